/**
 * The operations of an administrator, the parts of the proxy that they need, and who performs them. One service for the
 * HTTP API and for the commands on this machine.
 */
import type {
  AuditQuery,
  AuditVerdict,
  AuditView,
  Examination,
  ExplainInput,
  Explanation,
  InstanceChanges,
  InstanceInput,
  InstanceQuery,
  InstanceView,
  KeyChanges,
  KeyInput,
  KeyQuery,
  KeyRotation,
  KeyView,
  NewKeyView,
  Page,
  StatusView,
} from '@erp-proxy/contract';
import type { Audit } from '../audit/audit.ts';
import type { Instances } from '../instances/instances.ts';
import type { DescribeKeyRotationAct } from '../key-rotation/key-rotation.ts';
import type { Keys } from '../keys/keys.ts';
import type { KeyRecord } from '../stores/ports.ts';

/** The author of a change, for the audit. */
export interface Actor {
  /** `token`, `session` or `cli:<user>@<host>`. */
  name: string;
  address: string | null;
  requestId: string | null;
}

/**
 * Refusals are an {@link AdminError}. A change with a version applies only to that version, otherwise to the newest.
 */
export interface Admin {
  listKeys(query: KeyQuery): Promise<Page<KeyView>>;
  createKey(input: KeyInput): Promise<NewKeyView>;
  getKey(id: string): Promise<KeyView>;
  updateKey(id: string, changes: KeyChanges, version?: number): Promise<KeyView>;
  /** Once revoked, a key stays so; to do it again changes nothing. */
  revokeKey(id: string): Promise<KeyView>;
  /** The new key; the old one works on for the overlap, and is not rotated again while the new one works. */
  rotateKey(id: string, rotation: KeyRotation, version?: number): Promise<NewKeyView>;
  explain(id: string, input: ExplainInput): Promise<Explanation>;
  listInstances(query: InstanceQuery): Promise<Page<InstanceView>>;
  createInstance(input: InstanceInput): Promise<InstanceView>;
  getInstance(name: string): Promise<InstanceView>;
  updateInstance(name: string, changes: InstanceChanges, version?: number): Promise<InstanceView>;
  removeInstance(name: string, version?: number): Promise<void>;
  /** A new key made at Odoo and put in place of the stored one. */
  rotateInstanceKey(name: string): Promise<InstanceView>;
  /** Looks whether calls can be made on it; changes nothing. */
  examineInstance(name: string): Promise<Examination>;
  listAudit(query: AuditQuery): Promise<Page<AuditView>>;
  /** All that match, oldest first. */
  exportAudit(query: AuditQuery): AsyncIterable<AuditView>;
  /** `head`: that of an earlier verdict, which must still be part of the chain. */
  verifyAudit(head?: string): Promise<AuditVerdict>;
  /** Seals under the master key what other keys seal. */
  resealVault(): Promise<{ resealed: number }>;
  status(): Promise<StatusView>;
}

export interface AdminDeps {
  keys: Pick<Keys, 'create' | 'find' | 'list' | 'update' | 'revoke' | 'rotate'>;
  instances: Pick<Instances, 'get' | 'list' | 'add' | 'update' | 'remove' | 'reseal'>;
  audit: Pick<Audit, 'prepareAct' | 'search' | 'export' | 'verify'>;
  status: () => Promise<StatusView>;
  explain: (key: KeyRecord, input: ExplainInput) => Promise<Explanation>;
  /** Rejects with a `KeyRotationError` that says why. */
  rotateInstanceKey: (name: string, describeAct: DescribeKeyRotationAct) => Promise<void>;
  /** Null where there is none. */
  examineInstance: (name: string) => Promise<Examination | null>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** Odoo servers that are stored under a name. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { Change } from './change.ts';
import type { KeyStore } from './keys.ts';

/** An Odoo server with a user, stored under a name. */
export interface StoredInstance {
  /** Never reused: the sealed texts are bound to it. */
  readonly id: string;
  /** Unique. Never changes. */
  readonly name: string;
  /** Name of the master key that seals its secrets. */
  readonly masterKeyId: string;
  /** JSON text of all other members, with the sealed secrets. Only instances/ knows its shape. */
  readonly body: string;
  /** Starts at 1. Each `replace` adds 1. */
  readonly version: number;
}

export interface InstanceListQuery {
  /** The last name of the page before; null: begins with the first. */
  after: string | null;
  limit: number;
  /** Text that the name or the body contains. Case of ASCII letters is ignored. */
  search?: string | undefined;
}

/** The audit record `auditBatch` is appended as in {@link KeyStore}. */
export interface InstanceStore {
  /** `conflict`: the name is taken. */
  insert(
    instance: Omit<StoredInstance, 'version'>,
    auditBatch?: AuditBatch,
  ): Promise<Exclude<Change, 'missing'>>;
  findByName(name: string): Promise<StoredInstance | null>;
  /** At most `limit` instances, ordered by the code points of their names. */
  list(query: InstanceListQuery): Promise<StoredInstance[]>;
  /** Replaces master key and body if the row still has this version. */
  replace(
    id: string,
    version: number,
    next: Pick<StoredInstance, 'masterKeyId' | 'body'>,
    auditBatch?: AuditBatch,
  ): Promise<Change>;
  remove(id: string, version: number, auditBatch?: AuditBatch): Promise<Change>;
  /** Number of instances that each master key seals. */
  countByMasterKey(): Promise<ReadonlyMap<string, number>>;
}

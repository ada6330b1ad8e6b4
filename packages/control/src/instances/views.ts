/**
 * The forms in which a stored instance is passed to calls, to operators and to key rotation. Opened keys are only in
 * members named `apiKey`, which logs and object printers cannot see.
 */
import { hash } from 'node:crypto';
import type { EgressTrust } from '@erp-proxy/egress';
import { parseBaseUrl } from '@erp-proxy/egress/policy';
import type { StoredInstance } from '@erp-proxy/stores/ports';
import { type CodeMembers, toCodeMembers } from './member-names.ts';
import type { Members } from './members.ts';
import type { Body } from './row.ts';
import { trustOf } from './trust.ts';

/** What a call needs to run on a stored instance. */
export interface Instance extends Omit<CodeMembers, 'certificates' | 'allowPrivate'> {
  readonly id: string;
  readonly name: string;
  /** Is not enumerated, printed or copied with the other members. Null: each person has a key of their own. */
  readonly apiKey: string | null;
  /** Names the server and its database: another one, or other certificates for it, have another name. */
  readonly serverId: string;
  /** How its server is reached; null: like any other server. */
  readonly trust: EgressTrust | null;
}

/** An instance without secrets, with the members of its input. Times are milliseconds since 1970. */
export interface InstanceRecord extends CodeMembers {
  readonly id: string;
  readonly name: string;
  readonly key: {
    /** Time at which the key expires; null: never, or not known. */
    readonly expiresAt: number | null;
    readonly isExpiryKnown: boolean;
    readonly failure: string | null;
    readonly pendingStep: PendingKey['step'] | null;
  };
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Starts at 1; each change adds 1. */
  readonly version: number;
}

/** The second key at Odoo during a rotation. */
export interface PendingKey {
  /** In `proving`: the new key, not used yet. In `revoking`: the key to remove at Odoo. Is not enumerated. */
  readonly apiKey: string;
  readonly step: 'proving' | 'revoking';
  readonly since: number;
  readonly expiresAt: number | null;
}

/** An instance with a user and a key of its own. */
export interface KeyedRecord extends InstanceRecord {
  readonly userId: number;
}

/** The state of a key, as key rotation needs it. */
export interface KeyState {
  readonly record: KeyedRecord;
  /** Is not enumerated. */
  readonly apiKey: string;
  readonly pending: PendingKey | null;
}

export function toInstance(
  { id, name }: Pick<StoredInstance, 'id' | 'name'>,
  opened: Members & Pick<Body, 'api_key'>,
): Instance {
  const { certificates, allowPrivate, ...members } = toCodeMembers(opened);
  const trust = trustOf({ certificates, allowPrivate });
  return Object.assign(new KeyHolder(opened.api_key), {
    id,
    name,
    ...members,
    trust,
    serverId: nameServer({ id, url: members.url, db: members.db, trust }),
  });
}

export function toRecord(
  { id, name, version }: Pick<StoredInstance, 'id' | 'name' | 'version'>,
  body: Body,
): InstanceRecord {
  return {
    id,
    name,
    // Members that a body has beside these can be secret.
    ...toCodeMembers(body),
    key: {
      expiresAt: body.key_expires_at,
      isExpiryKnown: body.is_expiry_known,
      failure: body.key_failure,
      pendingStep: body.pending?.step ?? null,
    },
    createdAt: body.created_at,
    updatedAt: body.updated_at,
    version,
  };
}

/** Null: the instance has no key. */
export function toKeyState(row: StoredInstance, opened: Body): KeyState | null {
  const { api_key, user_id, pending } = opened;
  if (api_key === null || user_id === null) return null;
  return Object.assign(new KeyHolder(api_key), {
    record: { ...toRecord(row, opened), userId: user_id },
    pending: pending && toPending(pending),
  });
}

/** `pending`: opened, as a body has it. */
export function toPending({ api_key, step, since, expires_at }: NonNullable<Body['pending']>): PendingKey {
  return Object.assign(new KeyHolder(api_key), { step, since, expiresAt: expires_at });
}

/** Different spellings of an address count as equal. */
function nameServer({ id, url, db, trust }: Pick<Instance, 'id' | 'url' | 'db' | 'trust'>): string {
  return hash('sha256', JSON.stringify([id, parseBaseUrl(url), db, trust?.id]), 'base64url');
}

/** Holds a key in a private member, which is neither printed nor copied nor serialised. */
export class KeyHolder<Key extends string | null> {
  readonly #apiKey: Key;

  constructor(apiKey: Key) {
    this.#apiKey = apiKey;
  }

  get apiKey(): Key {
    return this.#apiKey;
  }
}

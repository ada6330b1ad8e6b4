/**
 * The forms in which a stored instance is passed to calls, to operators and to key rotation. Opened keys are only in
 * members named `apiKey`, which logs and object printers cannot see.
 */
import type { EgressTrust } from '@erp-proxy/egress';
import type { StoredInstance } from '../stores/ports/instances.ts';
import { type CodeMembers, toCodeMembers } from './member-names.ts';
import type { Members } from './members.ts';
import type { Body } from './row.ts';
import { trustOf } from './trust.ts';

/** What a call needs to run on a stored instance. */
export interface Instance extends Omit<CodeMembers, 'certificates' | 'allowPrivate'> {
  readonly id: string;
  readonly name: string;
  /** Is not enumerated, printed or copied with the other members. */
  readonly apiKey: string;
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

/** The state of a key, as key rotation needs it. */
export interface KeyState {
  readonly record: InstanceRecord;
  /** Is not enumerated. */
  readonly apiKey: string;
  readonly pending: PendingKey | null;
}

export function toInstance(
  { id, name }: Pick<StoredInstance, 'id' | 'name'>,
  opened: Members & Pick<Body, 'api_key'>,
): Instance {
  const { certificates, allowPrivate, ...members } = toCodeMembers(opened);
  return Object.assign(new KeyHolder(opened.api_key), {
    id,
    name,
    ...members,
    trust: trustOf({ certificates, allowPrivate }),
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

export function toKeyState(row: StoredInstance, opened: Body): KeyState {
  const { api_key, pending } = opened;
  return Object.assign(new KeyHolder(api_key), {
    record: toRecord(row, opened),
    pending:
      pending &&
      Object.assign(new KeyHolder(pending.api_key), {
        step: pending.step,
        since: pending.since,
        expiresAt: pending.expires_at,
      }),
  });
}

/** Holds a key in a private member, which is neither printed nor copied nor serialised. */
class KeyHolder {
  readonly #apiKey: string;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  get apiKey(): string {
    return this.#apiKey;
  }
}

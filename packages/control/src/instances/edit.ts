/**
 * Applies the changes of an operator or of key rotation to an opened instance, and opens instances that are not stored.
 * Pure.
 */

import type { InstanceCheckInput } from '@erp-proxy/contract';
import { parseBaseUrl } from '@erp-proxy/egress/policy';
import { InputError } from './input.ts';
import { type Changes, checkTogether, OWN_USER, readInput } from './members.ts';
import type { Body } from './row.ts';
import { type Instance, type PendingKey, toInstance } from './views.ts';

/** A change of the key. Omitted members stay unchanged. */
export interface KeyChange {
  apiKey?: string;
  expiresAt?: number | null;
  isExpiryKnown?: boolean;
  failure?: string | null;
  pending?: PendingKey | null;
}

/**
 * Applies the changes of an operator. A new key resets the expiry and the failure of the old one. Throws an {@link
 * InputError}.
 */
export function applyChanges(opened: Body, changes: Changes): Body {
  const identity = changes.identity ?? opened.identity;
  if (identity === 'person') return applyToPersons(opened, changes);
  const { key_expires_at, ...members } = changes;
  const redirection = findRedirection(opened, members);
  const isMoved = redirection === 'url';
  if (redirection !== null && members.api_key === undefined && opened.api_key !== null) {
    const message = isMoved
      ? 'is that of another server, where the stored key must not go: give `api_key` with it'
      : 'lets the stored key go to a server that it could not go to before: give `api_key` with it';
    throw new InputError([{ path: redirection, message }]);
  }
  checkTogether({ ...opened, ...members, key_expires_at: null });
  const isNewKey = isMoved || (members.api_key !== undefined && members.api_key !== opened.api_key);
  return {
    ...opened,
    ...members,
    ...(isNewKey ? { ...describeExpiry(null), key_failure: null } : null),
    ...(key_expires_at === undefined ? null : describeExpiry(key_expires_at)),
    pending: isMoved ? null : isNewKey ? retire(opened.pending, members.api_key) : opened.pending,
  };
}

/** The members of a body that change with a key, of an instance or of a connection. */
type KeyMembers = Pick<Body, 'key_expires_at' | 'key_failure' | 'pending'> & { api_key: string | null };

export function applyKeyChange<Opened extends KeyMembers>(
  opened: Opened,
  { apiKey, expiresAt, isExpiryKnown, failure, pending }: KeyChange,
): Opened {
  return {
    ...opened,
    ...(apiKey === undefined ? null : { api_key: apiKey }),
    ...(expiresAt === undefined ? null : { key_expires_at: expiresAt }),
    // The expiry of a connection has no such member: null is also for what is not known.
    ...(isExpiryKnown === undefined || !('is_expiry_known' in opened)
      ? null
      : { is_expiry_known: isExpiryKnown }),
    ...(failure === undefined ? null : { key_failure: failure }),
    ...(pending === undefined ? null : { pending: pending && toStoredPending(pending) }),
  };
}

/**
 * The same for an instance that is, or becomes, one for persons: the user and the key that it had are removed. Keys of
 * persons stop working by themselves when the server changes (connections/).
 */
function applyToPersons(opened: Body, changes: Changes): Body {
  const changed = { ...opened, ...OWN_USER, ...changes };
  checkTogether(changed);
  const { key_expires_at: _, ...members } = changed;
  return { ...members, ...describeExpiry(null), key_failure: null, pending: null };
}

/** Converts the expiry that an operator gives; null: the expiry is not known. */
export function describeExpiry(expiresAt: number | null): Pick<Body, 'key_expires_at' | 'is_expiry_known'> {
  return { key_expires_at: expiresAt, is_expiry_known: expiresAt !== null };
}

/** The pending key after the operator gave a new key: it is to be revoked at Odoo, unless it is the same key. */
function retire(pending: Body['pending'], apiKey: string | null | undefined): Body['pending'] {
  return pending === null || pending.api_key === apiKey ? null : { ...pending, step: 'revoking' };
}

function toStoredPending({ apiKey, step, since, expiresAt }: PendingKey): Body['pending'] {
  return { api_key: apiKey, step, since, expires_at: expiresAt };
}

/** Identity of a draft. No error mentions it. */
const DRAFT = { id: 'draft', name: 'draft' };
/** Placeholder for the id of the user until the login is found. */
const NOT_YET_KNOWN = 1;

const LOGIN = /^[^\p{Cc}]{1,256}$/u;

/**
 * Opens an instance that is not stored, so that its server can be checked, by the rules for the members of a stored
 * one. `login` null: the user id is known. Throws an {@link InputError}.
 */
export function openDraft({ login, ...input }: InstanceCheckInput): {
  instance: Instance;
  login: string | null;
} {
  if (login !== undefined && input.user_id !== undefined) throw refuseLogin('excludes `user_id`');
  if (login !== undefined && !LOGIN.test(login)) throw refuseLogin('must be the login of a user in Odoo');
  const members = { ...input, ...(login !== undefined && { user_id: NOT_YET_KNOWN }), name: DRAFT.name };
  return { instance: toInstance(DRAFT, readInput(members)), login: login ?? null };
}

function refuseLogin(message: string): InputError {
  return new InputError([{ path: 'login', message }]);
}

/** The members by which a call finds and authenticates its server. */
export interface ServerIdentity {
  url: string;
  certificates: string | null;
  allow_private: boolean;
}

/**
 * The member whose change requires the key again, because it could send the stored key to another server: `url` if it
 * names another server, `certificates` or `allow_private` if more servers could be taken for the same one. Null if
 * there is none.
 */
export function findRedirection(
  before: ServerIdentity,
  { url, certificates, allow_private }: Partial<ServerIdentity>,
): keyof ServerIdentity | null {
  if (url !== undefined && !isSameServer(url, before.url)) return 'url';
  if (certificates !== undefined && certificates !== before.certificates) return 'certificates';
  return allow_private === true && !before.allow_private ? 'allow_private' : null;
}

/** Compares the parsed addresses, so that different spellings count as equal. */
function isSameServer(one: string, other: string): boolean {
  return JSON.stringify(parseBaseUrl(one)) === JSON.stringify(parseBaseUrl(other));
}

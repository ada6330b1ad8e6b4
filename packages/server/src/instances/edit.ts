/** Applies the changes of an operator or of key rotation to an opened instance. Pure. */
import { InputError } from './input.ts';
import { type Changes, checkTogether } from './members.ts';
import { findRedirection } from './redirection.ts';
import type { Body } from './row.ts';
import type { PendingKey } from './views.ts';

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
export function applyChanges(opened: Body, { key_expires_at, ...members }: Changes): Body {
  const redirection = findRedirection(opened, members);
  const isMoved = redirection === 'url';
  if (redirection !== null && members.api_key === undefined) {
    const message = isMoved
      ? 'is that of another server, where the stored key must not go: give `api_key` with it'
      : 'lets the stored key go to a server that it could not go to before: give `api_key` with it';
    throw new InputError([{ path: redirection, message }]);
  }
  checkTogether({ ...opened, ...members });
  const isNewKey = isMoved || (members.api_key !== undefined && members.api_key !== opened.api_key);
  return {
    ...opened,
    ...members,
    ...(isNewKey ? { ...describeExpiry(null), key_failure: null } : null),
    ...(key_expires_at === undefined ? null : describeExpiry(key_expires_at)),
    pending: isMoved ? null : isNewKey ? retire(opened.pending, members.api_key) : opened.pending,
  };
}

export function applyKeyChange(
  opened: Body,
  { apiKey, expiresAt, isExpiryKnown, failure, pending }: KeyChange,
): Body {
  return {
    ...opened,
    ...(apiKey === undefined ? null : { api_key: apiKey }),
    ...(expiresAt === undefined ? null : { key_expires_at: expiresAt }),
    ...(isExpiryKnown === undefined ? null : { is_expiry_known: isExpiryKnown }),
    ...(failure === undefined ? null : { key_failure: failure }),
    ...(pending === undefined ? null : { pending: pending && toStoredPending(pending) }),
  };
}

/** Converts the expiry that an operator gives; null: the expiry is not known. */
export function describeExpiry(expiresAt: number | null): Pick<Body, 'key_expires_at' | 'is_expiry_known'> {
  return { key_expires_at: expiresAt, is_expiry_known: expiresAt !== null };
}

/** The pending key after the operator gave a new key: it is to be revoked at Odoo, unless it is the same key. */
function retire(pending: Body['pending'], apiKey: string | undefined): Body['pending'] {
  return pending === null || pending.api_key === apiKey ? null : { ...pending, step: 'revoking' };
}

function toStoredPending({ apiKey, step, since, expiresAt }: PendingKey): Body['pending'] {
  return { api_key: apiKey, step, since, expires_at: expiresAt };
}

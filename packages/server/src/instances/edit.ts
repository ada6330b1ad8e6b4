/** What becomes of an opened instance when an operator, or key care, changes it. Pure. */
import { parseBaseUrl } from '../egress/base-url.ts';
import { type Changes, checkTogether, InstanceFault } from './members.ts';
import type { Body } from './row.ts';
import type { PendingKey } from './views.ts';

/** What is left out stays. */
export interface KeyChange {
  apiKey?: string;
  expiresAt?: number | null;
  isExpiryKnown?: boolean;
  failure?: string | null;
  pending?: PendingKey | null;
}

/** Throws an {@link InstanceFault}. What was known of a key goes with it. */
export function applyChanges(opened: Body, { key_expires_at, ...members }: Changes): Body {
  const isMoved = members.url !== undefined && !isSameServer(members.url, opened.url);
  if (isMoved && members.api_key === undefined) {
    const message = 'is that of another server, where the stored key must not go: give `api_key` with it';
    throw new InstanceFault([{ path: 'url', message }]);
  }
  const widened = findWidened(opened, members);
  if (widened !== null && members.api_key === undefined) {
    const message =
      'lets the stored key go to a server that it could not go to before: give `api_key` with it';
    throw new InstanceFault([{ path: widened, message }]);
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

/** As an operator gives it: null where nobody knows. */
export function describeExpiry(expiresAt: number | null): Pick<Body, 'key_expires_at' | 'is_expiry_known'> {
  return { key_expires_at: expiresAt, is_expiry_known: expiresAt !== null };
}

/** The member by which another server could pass for the instance's own; null where there is none. */
function findWidened(
  opened: Body,
  { certificates, allow_private }: Pick<Changes, 'certificates' | 'allow_private'>,
): 'certificates' | 'allow_private' | null {
  if (certificates !== undefined && certificates !== opened.certificates) return 'certificates';
  return allow_private === true && !opened.allow_private ? 'allow_private' : null;
}

/** However the two are written. */
function isSameServer(one: string, other: string): boolean {
  return JSON.stringify(parseBaseUrl(one)) === JSON.stringify(parseBaseUrl(other));
}

/** An operator has put a key in place of both: the second one is to be removed at Odoo, unless it is this very key. */
function retire(pending: Body['pending'], apiKey: string | undefined): Body['pending'] {
  return pending === null || pending.api_key === apiKey ? null : { ...pending, step: 'revoking' };
}

function toStoredPending({ apiKey, step, since, expiresAt }: PendingKey): Body['pending'] {
  return { api_key: apiKey, step, since, expires_at: expiresAt };
}

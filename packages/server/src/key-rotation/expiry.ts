/** How soon a key of Odoo's ends, and what that calls for: pure rules about time. */
import type { InstanceKeyView } from '@erp-proxy/contract';
import type { InstanceRecord } from '../instances/views.ts';

export const DAY_MS = 86_400_000;

/** Time enough for a person to make a new key by hand. */
const WARN_WITHIN_MS = 14 * DAY_MS;

/**
 * A key is replaced when a third of its life is left, and with 30 days at most. A third, because it fits any life: of a
 * day, eight hours are left for attempts. Of the usual 90 days it is 30, so that attempts which fail have gone on for two
 * weeks before anybody is warned.
 */
const ROTATE_WITHIN_MS = 30 * DAY_MS;

type Expiry = Pick<InstanceRecord['key'], 'expiresAt' | 'isExpiryKnown'>;

export function judgeKey({ expiresAt, isExpiryKnown }: Expiry, now: number): InstanceKeyView['state'] {
  if (!isExpiryKnown) return 'unknown';
  if (expiresAt === null) return 'ok';
  if (expiresAt <= now) return 'expired';
  return expiresAt - now < WARN_WITHIN_MS ? 'expiring' : 'ok';
}

/** Whether a key is to be replaced; `createdAt` is null where nobody knows. */
export function isRotationDue(
  { expiresAt, createdAt }: { expiresAt: number | null; createdAt: number | null },
  now: number,
): boolean {
  if (expiresAt === null) return false;
  const third = createdAt === null ? Infinity : (expiresAt - createdAt) / 3;
  return expiresAt - now < Math.min(ROTATE_WITHIN_MS, third);
}

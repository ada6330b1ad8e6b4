/** Decides from the expiry of an Odoo key whether to warn or to replace it. Pure. */
import type { InstanceKeyView } from '@erp-proxy/contract';
import type { InstanceRecord } from '../instances/views.ts';

export const DAY_MS = 86_400_000;

/** A warning begins this long before a key expires: enough time to create a new key by hand. */
const WARN_WITHIN_MS = 14 * DAY_MS;

/**
 * A key is replaced when a third of its lifetime is left, but at most 30 days before it expires. A third fits any
 * lifetime: a key of one day leaves eight hours for attempts. A key of the usual 90 days leaves 30 days, so attempts
 * can fail for two weeks before the first warning.
 */
const ROTATE_WITHIN_MS = 30 * DAY_MS;

type Expiry = Pick<InstanceRecord['key'], 'expiresAt' | 'isExpiryKnown'>;

export function checkKey({ expiresAt, isExpiryKnown }: Expiry, now: number): InstanceKeyView['state'] {
  if (!isExpiryKnown) return 'unknown';
  if (expiresAt === null) return 'ok';
  if (expiresAt <= now) return 'expired';
  return expiresAt - now < WARN_WITHIN_MS ? 'expiring' : 'ok';
}

/** Whether a key is due for replacement. `createdAt` is null if it is not known. */
export function isRotationDue(
  { expiresAt, createdAt }: { expiresAt: number | null; createdAt: number | null },
  now: number,
): boolean {
  if (expiresAt === null) return false;
  const third = createdAt === null ? Infinity : (expiresAt - createdAt) / 3;
  return expiresAt - now < Math.min(ROTATE_WITHIN_MS, third);
}

/**
 * Authenticates calls of /json/2 and /doc-bearer by the API key in the Authorization header
 * (docs/odoo-facts.md#json2-check-order, docs/odoo-facts.md#json2-user).
 */
import { httpFault } from './http-fault.ts';
import type { Instance } from './instance.ts';

/**
 * Returns the id of the user. Passwords are not accepted here, and a wrong key causes no delay, because it is not
 * hashed as a password.
 */
export function checkBearer(instance: Instance, authorization: string | undefined): number {
  const key = /^bearer\s+(\S.*)$/i.exec(authorization ?? '')?.[1]?.trim();
  if (!key) {
    throw httpFault(
      'Unauthorized',
      'User not authenticated, use an API Key with a Bearer Authorization header.',
    );
  }
  const uid = instance.findUser(key);
  if (uid !== undefined) return uid;
  instance.requests.wrongKeys++;
  throw httpFault('Unauthorized', 'Invalid apikey');
}

/**
 * Who calls /json/2 and /doc-bearer: the user of the API key in the Authorization header
 * (docs/odoo-facts.md#json2-check-order, docs/odoo-facts.md#json2-user).
 */
import { httpFault } from './http-fault.ts';
import type { Instance } from './instance.ts';

/** The user's id. Passwords open nothing here, and a wrong key costs no time: it is not hashed as a password. */
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

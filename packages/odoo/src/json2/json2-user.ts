/**
 * Asks `/json/2` for the user of a key: there the key alone decides (docs/odoo-facts.md#json2-user). Pure functions.
 */
import { buildJson2Request, type Json2Call } from './json2-request.ts';

const EMPTY_BODY: Uint8Array = Buffer.from('{}');

/** `res.users/context_get`: the only method that returns a key's user and does nothing else. */
export function buildUserRequest(call: Omit<Json2Call, 'model' | 'method'>) {
  const request = buildJson2Request({ ...call, model: 'res.users', method: 'context_get' });
  return 'unmappable' in request ? request : ({ method: 'POST', ...request, body: EMPTY_BODY } as const);
}

/** The id of the user in a result of {@link buildUserRequest}; null if it has none. */
export function readUserId(body: Buffer): number | null {
  try {
    const { uid } = JSON.parse(body.toString()) as { uid?: unknown };
    return typeof uid === 'number' ? uid : null;
  } catch {
    return null;
  }
}

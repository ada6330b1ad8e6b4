/** Asks `/jsonrpc` for the id of the user with a login. Pure functions. */
import { isObject } from '@erp-proxy/json';

/** The body of `common.authenticate`. As no browser signs in, Odoo takes an API key in place of the password. */
export function buildSignIn({
  db,
  login,
  apiKey,
}: {
  db: string;
  login: string;
  apiKey: string;
}): Uint8Array {
  const params = { service: 'common', method: 'authenticate', args: [db, login, apiKey, {}] };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'call', params, id: 1 }));
}

/** `userId` null: Odoo signs nobody in. `error`: a fault of Odoo. Null: it is not the answer of Odoo. */
export function readSignIn(body: Uint8Array): { userId: number | null } | { error: unknown } | null {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(body).toString());
  } catch {
    return null;
  }
  if (!isObject(answer)) return null;
  if ('error' in answer) return { error: answer['error'] };
  const { result } = answer;
  if (result === false || result === null) return { userId: null };
  return Number.isSafeInteger(result) ? { userId: result as number } : null;
}

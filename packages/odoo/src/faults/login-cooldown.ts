/**
 * Distinguishes the login cooldown of Odoo 14 and 15 from a wrong key. After five failed logins from one address in a
 * worker process, Odoo refuses every credential that it has to check there for a minute, including correct ones
 * (docs/odoo-facts.md#login-cooldown). A pure function.
 */
import { findInnermostFrame } from './innermost-frame.ts';

/** `fault` is the `error` member of an answer of `/jsonrpc`. Its message can be translated, its traceback cannot. */
export function isLoginCooldown(fault: unknown): boolean {
  const data = readMember(fault, 'data');
  const name = readMember(data, 'name');
  const message = readMember(data, 'message');
  const debug = readMember(data, 'debug');
  if (typeof name !== 'string' || typeof message !== 'string' || typeof debug !== 'string') return false;
  return name.endsWith('.AccessDenied') && REFUSING_FRAME.test(findInnermostFrame({ name, message, debug }));
}

/** Includes the file, because a module can have a method of the same name. */
const REFUSING_FRAME = /[\\/]base[\\/]models[\\/]res_users\.py", line \d+, in _assert_can_auth$/;

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

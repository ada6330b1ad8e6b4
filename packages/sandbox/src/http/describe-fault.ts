/**
 * The members of an error in both protocols. Their order depends on the version (docs/odoo-facts.md#error-code-order,
 * docs/odoo-facts.md#json2-error-body).
 */
import type { JsonObject } from '../json/value.ts';
import { Fault } from '../orm/fault.ts';
import type { Wire } from '../versions/personality.ts';
import { printChainedTraceback } from './print-chained-traceback.ts';
import { printTraceback } from './print-traceback.ts';

export function describeFault(fault: Fault, wire: Wire): JsonObject {
  const isBare = fault.name === 'odoo.exceptions.AccessDenied' && !wire.accessDeniedTraceback;
  const print = wire.chainsTracebacks ? printChainedTraceback : printTraceback;
  const debug = isBare ? `${fault.name}: ${fault.message}\n` : print(fault);
  const { name, message } = fault;
  const rest = { message, arguments: fault.arguments, context: {} };
  return wire.debugFirst ? { name, debug, ...rest } : { name, ...rest, debug };
}

export function toFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('builtins.RuntimeError', String(error));
}

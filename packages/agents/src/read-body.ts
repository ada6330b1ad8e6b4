/**
 * Reads the body of a request to `/mcp` within limits, which bound the time for which a request keeps other callers
 * waiting: the value is read and checked at once, and objects with thousands of names are slow to read and to check.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BATCH_CALLS_MAX } from '@erp-proxy/contract';
import { Denial } from '@erp-proxy/gateway/terms';
import { parseDocument } from '@erp-proxy/gateway/thread';
import { findExcess, isObject, viewAsBuffer } from '@erp-proxy/json';

const BODY_BYTES_MAX = 1024 * 1024;
/** A longer JSON text is counted and parsed in different turns of the event loop. */
export const SLICE_BYTES = 64 * 1024;
export const DEPTH_MAX = 100;
/**
 * `membersMax`: members of all objects, such as the values of a record with its lines. `valuesMax`: all values, because
 * long lists of numbers are slow to read for their size.
 */
const LIMITS = { membersMax: 10_000, valuesMax: 100_000 };
/** Maximum members of a message, of its parameters, of `_meta` and of the arguments of a tool. */
const NAMES_MAX = 100;

export async function readBody(bytes: Uint8Array, signal: AbortSignal): Promise<{ value: unknown } | Denial> {
  if (bytes.length > BODY_BYTES_MAX) return refuse(`${BODY_BYTES_MAX / 2 ** 20} MiB`);
  const document = await parseDocument(bytes, DEPTH_MAX, signal);
  if (document instanceof Denial) return document;
  const excess = findExcess(bytes, LIMITS);
  if (excess === 'members') return refuse(`${LIMITS.membersMax} members in its objects`);
  if (excess === 'values') return refuse(`${LIMITS.valuesMax} values in its lists and objects`);
  // Counting and parsing in one turn would block the event loop for too long.
  if (bytes.length > SLICE_BYTES) await nextTurn();
  const value: unknown = JSON.parse(viewAsBuffer(bytes).toString());
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length > BATCH_CALLS_MAX) return refuse(`${BATCH_CALLS_MAX} messages`);
  if (messages.some(hasManyNames))
    return refuse(
      `${NAMES_MAX} arguments of a tool, and ${NAMES_MAX} members in a message, \`params\` and \`_meta\``,
    );
  return { value };
}

function refuse(limit: string): Denial {
  return new Denial('payload_too_large', `A request to /mcp may have ${limit}.`);
}

function hasManyNames(message: unknown): boolean {
  const params = isObject(message) ? message['params'] : undefined;
  const inner = isObject(params) ? [params, params['arguments'], params['_meta']] : [];
  return [message, ...inner].some((each) => isObject(each) && Object.keys(each).length > NAMES_MAX);
}

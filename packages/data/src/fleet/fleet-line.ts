/** Makes the lines of the answer for many instances, each of which is one JSON text. */
import { describeDenial } from '@erp-proxy/gateway/request';
import { Denial, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import { parseDocument } from '@erp-proxy/gateway/thread';
import { replaceLineBreaks } from '../replace-line-breaks.ts';

/** The number of instances with a result, with an error, and that were not called. */
export interface FleetCounts {
  done: number;
  failed: number;
  skipped: number;
}

/** The nesting that a call may have, and some levels for the server. */
const DEPTH_MAX = 1000;
/** The proxy has made the envelope. A server that closes it early could add further members. */
const ENVELOPE = ['jsonrpc', 'id'];
const NEVER = new AbortController().signal;

/**
 * Makes a line from a whole answer to an execute call: its result or its error, with the bytes as they are. Changes
 * line breaks in place. Null if the answer is no JSON: a server could add lines for other instances by it.
 */
export async function buildLine(
  instance: string,
  answer: Uint8Array,
): Promise<{ line: Uint8Array; kind: 'result' | 'error' } | null> {
  const document = await parseDocument(answer, DEPTH_MAX, NEVER);
  if (document instanceof Denial || document.members === null) return null;
  const last = document.members.at(-1);
  const names = document.members.map(({ name }) => name);
  const kind = last?.name;
  if (last === undefined || (kind !== 'result' && kind !== 'error')) return null;
  if (names.join() !== [...ENVELOPE, kind].join()) return null;
  await replaceLineBreaks(answer);
  const value = answer.subarray(last.value.start, last.value.end);
  return { line: joinLine(instance, kind, value), kind };
}

export function buildDenialLine(instance: string, denial: Denial): Uint8Array {
  const { error } = describeDenial(denial, OWN_DIALECT);
  return joinLine(instance, 'error', Buffer.from(JSON.stringify(error)));
}

export function buildLastLine(counts: FleetCounts): Uint8Array {
  return Buffer.from(`${JSON.stringify(counts)}\n`);
}

function joinLine(instance: string, kind: 'result' | 'error', value: Uint8Array): Uint8Array {
  return Buffer.concat([
    Buffer.from(`{"instance":${JSON.stringify(instance)},"${kind}":`),
    value,
    Buffer.from('}\n'),
  ]);
}

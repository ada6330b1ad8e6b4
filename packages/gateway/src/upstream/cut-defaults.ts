/**
 * Step: removes from the answer of `default_get` the fields that the call does not name. Models of Odoo return others
 * too (docs/odoo-facts.md#default-get), which the rules for fields have not checked. Its part of the reply comes first,
 * so that no other step keeps what is removed.
 */

import { ByteStreamError, PieceCollector } from '@erp-proxy/async/streams';
import { JsonSyntaxError, readDocument, readMembers } from '@erp-proxy/json';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import { isResult, type Reply, type ResultReply, replyWhole } from '../terms/reply.ts';
import { denyBrokenOff } from '../terms/upstream-denials.ts';
import type { ReceiveSettings } from './receive.ts';

const NOTHING = Buffer.alloc(0);

interface CutDefaultsDeps {
  settings: Pick<ReceiveSettings, 'answerBytesMax'>;
}

export function cutDefaults({ settings }: CutDefaultsDeps): Step<{ isReadOnly: boolean }> {
  return async function cutDefaults(_call, context, next) {
    const reply = await next(context);
    const { namedDefaults } = context;
    if (namedDefaults === null || !isResult(reply)) return reply;
    const whole = await readWhole(reply, settings.answerBytesMax, context);
    return whole instanceof Denial ? whole : cut(whole, namedDefaults);
  };
}

/** The result's value and the closing brace of the envelope. */
async function readWhole(
  { pieces, rest, tail }: ResultReply,
  bytesMax: number,
  context: CallContext,
): Promise<Uint8Array | Denial> {
  if (rest === null) return Buffer.concat([...pieces, tail]);
  const collector = new PieceCollector();
  for (const piece of pieces) collector.add(piece);
  try {
    for (let piece = await rest.next(); piece !== null; piece = await rest.next()) {
      if (collector.length + piece.length > bytesMax) {
        rest.cancel();
        return denyUnreadable('the answer is too large');
      }
      collector.add(piece);
    }
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    const details = { outcome: 'unknown', isReadOnly: true, detail: error.message } as const;
    return denyBrokenOff(context.time.deadline, details);
  }
  collector.add(tail);
  return collector.join();
}

function cut(whole: Uint8Array, names: ReadonlySet<string>): Reply {
  const value = whole.subarray(0, whole.lastIndexOf(0x7d));
  try {
    const { root } = readDocument(value);
    if (root.kind !== 'object') return denyUnreadable('no object');
    const kept: Uint8Array[] = [];
    for (const { name, nameStart, value: span } of readMembers(value, root)) {
      if (!names.has(name)) continue;
      kept.push(Buffer.from(kept.length === 0 ? '' : ', '), value.subarray(nameStart, span.end));
    }
    return replyWhole(Buffer.concat([Buffer.from('{'), ...kept, Buffer.from('}}')]), NOTHING);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return denyUnreadable(error.message);
  }
}

function denyUnreadable(detail: string): Denial {
  return new Denial(
    'upstream_bad_response',
    'The server answered `default_get` with something else than values.',
    {
      detail,
    },
  );
}

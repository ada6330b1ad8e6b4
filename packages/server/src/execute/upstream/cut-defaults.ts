/**
 * Step: removes from the answer of `default_get` the fields that the call does not name. Models of Odoo return others
 * too (docs/odoo-facts.md#default-get), which the rules for fields have not judged. Its part of the reply comes first,
 * so that no other step keeps what is removed.
 */
import { readDocument } from '../../json/document.ts';
import { readMembers } from '../../json/members.ts';
import { JsonSyntaxError } from '../../json/syntax-error.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { ByteStreamError } from '../../streams/byte-stream.ts';
import { PieceCollector } from '../../streams/piece-collector.ts';
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
  return function cutDefaults(_call, context) {
    const { namedDefaults } = context;
    if (namedDefaults === null) return null;
    context.onReply((reply) => {
      if (reply === null || !isResult(reply)) return reply;
      return andThen(readWhole(reply, settings.answerBytesMax, context), (whole) =>
        whole instanceof Denial ? whole : cut(whole, namedDefaults),
      );
    });
    return null;
  };
}

/** The result's value and the closing brace of the envelope. */
function readWhole(
  { pieces, rest, tail }: ResultReply,
  bytesMax: number,
  context: CallContext,
): Awaitable<Uint8Array | Denial> {
  if (rest === null) return Buffer.concat([...pieces, tail]);
  return collect();

  async function collect(): Promise<Uint8Array | Denial> {
    const collector = new PieceCollector();
    for (const piece of pieces) collector.add(piece);
    try {
      for (let piece = await rest!.next(); piece !== null; piece = await rest!.next()) {
        if (collector.length + piece.length > bytesMax) {
          rest!.cancel();
          return denyUnreadable('the answer is too large');
        }
        collector.add(Buffer.from(piece));
      }
    } catch (error) {
      if (!(error instanceof ByteStreamError)) throw error;
      return denyBrokenOff(context.time.deadline, {
        outcome: 'unknown',
        isReadOnly: true,
        detail: error.message,
      });
    }
    collector.add(tail);
    return collector.join();
  }
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

/** Sends a request and reads its answer whole, within a bound: for everything that is not a caller's call. */

import { ByteStreamError } from '../streams/byte-stream.ts';
import type {
  EgressAnswer,
  EgressDispatcher,
  EgressFailure,
  EgressRequest,
  SendOptions,
} from './dispatcher.ts';

export interface WholeAnswer extends Omit<EgressAnswer, 'body' | 'bodyLength'> {
  body: Buffer;
}

/** An answer larger than `bytesMax`, or one that breaks off, is a failure. */
export async function fetchWhole(
  egress: EgressDispatcher,
  request: EgressRequest,
  { bytesMax, ...options }: SendOptions & { bytesMax: number },
): Promise<WholeAnswer | EgressFailure> {
  const answer = await egress.send(request, options);
  if (!answer.ok) return answer;
  const { body, bodyLength: _, ...head } = answer;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let piece = await body.next(); piece !== null; piece = await body.next()) {
      bytes += piece.length;
      if (bytes > bytesMax) {
        body.cancel();
        return fail('bad_response', `answer larger than ${bytesMax} bytes`);
      }
      pieces.push(piece);
    }
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    return fail(error.reason === 'aborted' ? 'aborted' : 'reset', error.message);
  }
  return { ...head, body: Buffer.concat(pieces) };
}

function fail(reason: EgressFailure['reason'], detail: string): EgressFailure {
  return { ok: false, reason, sent: true, detail };
}

/** Sends a request and reads its whole answer, up to a maximum size: for requests of the proxy itself. */
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import type { SendOptions } from '@erp-proxy/wire/client';
import type { EgressDispatcher } from './dispatcher.ts';
import type { EgressAnswer, EgressFailure, EgressRequest } from './messages.ts';

export interface WholeAnswer extends Omit<EgressAnswer, 'body' | 'bodyLength'> {
  body: Buffer;
}

/** An answer that is larger than `bytesMax` or breaks off is a failure. */
export async function fetchWhole(
  egress: EgressDispatcher,
  request: EgressRequest,
  { bytesMax, ...options }: SendOptions & { bytesMax: number },
): Promise<WholeAnswer | EgressFailure> {
  const answer = await egress.send(request, options);
  if (!answer.ok) return answer;
  const { body, bodyLength: _, ...head } = answer;
  let whole: Buffer | null;
  try {
    whole = await readStream(body, bytesMax);
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    return fail(error.reason === 'aborted' ? 'aborted' : 'reset', error.message);
  }
  return whole === null
    ? fail('bad_response', `answer larger than ${bytesMax} bytes`)
    : { ...head, body: whole };
}

function fail(reason: EgressFailure['reason'], detail: string): EgressFailure {
  return { ok: false, reason, sent: true, detail };
}

/** Sends one JSON POST from the command line, through egress/ like all outgoing requests. */
import { createEgressDispatcher, type EgressDispatcher, type EgressFailure } from '../egress/dispatcher.ts';
import { parseEgressPolicy } from '../egress/policy.ts';

export interface PostAnswer {
  ok: true;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A dispatcher for the one origin that the operator named. */
export function createDispatcherTo(origin: string): EgressDispatcher {
  const { policy } = parseEgressPolicy([origin]);
  return createEgressDispatcher({ allow: policy, connectTimeoutMs: 5000, firstByteTimeoutMs: null });
}

/** Sends the body and reads the whole answer, up to `bytesMax`. */
export async function postJson(
  egress: EgressDispatcher,
  url: URL,
  body: Uint8Array | string,
  headers: Record<string, string> = {},
  { timeoutMs = 310_000, bytesMax = 1024 ** 3 } = {},
): Promise<PostAnswer | EgressFailure> {
  const answer = await egress.send(
    {
      method: 'POST',
      origin: url.origin,
      path: url.pathname,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    },
    { signal: AbortSignal.timeout(timeoutMs) },
  );
  if (!answer.ok) return answer;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (let piece = await answer.body.next(); piece !== null; piece = await answer.body.next()) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      answer.body.cancel();
      return {
        ok: false,
        reason: 'bad_response',
        sent: true,
        detail: `answer larger than ${bytesMax} bytes`,
      };
    }
    pieces.push(piece);
  }
  return { ok: true, status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) };
}

/** Reads the body of a request of Node's HTTP server into memory, up to a maximum size. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Denial } from '../execute/terms/denial.ts';
import { PieceCollector } from '../streams/piece-collector.ts';
import { denyBody, denyLength, INCOMPLETE_BODY } from './body.ts';

/**
 * Returns the whole body, or the reason why it is refused. If the client leaves or the signal aborts, the result is a
 * denial that no client will read. A client that sent `expect: 100-continue` gets `100 Continue` only if its body is
 * wanted.
 */
export function readNodeBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
  signal: AbortSignal,
  kind?: 'json' | 'bytes',
): Promise<Uint8Array | Denial> | Denial {
  const { headers } = request;
  const denial = denyBody(
    {
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      contentLength: headers['content-length'],
    },
    bytesMax,
    kind,
  );
  if (denial !== null) return denial;
  if (signal.aborted) return INCOMPLETE_BODY;
  if (headers.expect?.toLowerCase() === '100-continue' && request.httpVersion !== '1.0')
    response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new PieceCollector();
    const finish = (outcome: Uint8Array | Denial) => {
      request.off('data', take);
      signal.removeEventListener('abort', finishIncomplete);
      resolve(outcome);
    };
    const take = (piece: Buffer) => {
      body.add(piece);
      if (body.length > bytesMax) finish(denyLength(bytesMax));
    };
    const finishIncomplete = () => finish(INCOMPLETE_BODY);
    request.on('data', take);
    request.on('end', () => finish(body.join()));
    request.on('close', finishIncomplete);
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || request.destroyed) finishIncomplete();
      else reject(error);
    });
    signal.addEventListener('abort', finishIncomplete);
  });
}

/** Reads the body of a request of Node's HTTP server into memory, up to a maximum size. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLarge } from '@erp-proxy/async/shared-bytes';
import type { Denial } from '@erp-proxy/gateway/terms';
import { BodyCollector, denyBody, denyBodyFailure, denyLength } from './body.ts';

export interface NodeBodyOptions {
  bytesMax: number;
  /** Waits for the memory of a large body. Resolves to false if there is no room. */
  takeRoom: (bytes: number) => Promise<boolean>;
  signal: AbortSignal;
  /** Default: JSON. */
  kind?: 'json' | 'bytes' | undefined;
}

/**
 * Returns the whole body, or the reason why it is refused. If the client leaves or the signal aborts, the result is a
 * denial that nobody reads. A client that sent `expect: 100-continue` gets `100 Continue` only if its body is wanted.
 */
export async function readNodeBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bytesMax, takeRoom, signal, kind }: NodeBodyOptions,
): Promise<Uint8Array | Denial> {
  const { headers } = request;
  const contentLength = headers['content-length'];
  const denial = denyBody(
    {
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      contentLength,
    },
    bytesMax,
    kind,
  );
  if (denial !== null) return denial;
  const length = contentLength === undefined ? null : Number(contentLength);
  if (length !== null && isLarge({ length }) && !(await takeRoom(length)))
    return denyBodyFailure(signal.aborted ? 'incomplete' : 'no_room');
  if (signal.aborted) return denyBodyFailure('incomplete');
  if (headers.expect?.toLowerCase() === '100-continue' && request.httpVersion !== '1.0')
    response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new BodyCollector(length ?? bytesMax);
    let hasRoom = length !== null;
    let isWaiting = false;
    const finish = (outcome: Uint8Array | Denial) => {
      request.off('readable', takeArrived);
      // Discards the rest of the body as it arrives.
      request.resume();
      signal.removeEventListener('abort', finishIncomplete);
      resolve(outcome);
    };
    // Reads all available bytes at once: an event for each piece, which can be a single byte, would cost more than the
    // piece.
    const takeArrived = () => {
      if (isWaiting) return;
      const piece: Buffer | null = request.read();
      if (piece === null) return;
      const taken = body.length + piece.length;
      if (taken > bytesMax) {
        finish(denyLength(bytesMax));
        return;
      }
      body.add(piece);
      if (hasRoom || !isLarge({ length: taken })) return;
      // A body in chunks takes room for the maximum, because its size is unknown.
      hasRoom = true;
      isWaiting = true;
      takeRoom(bytesMax).then((isTaken) => {
        isWaiting = false;
        if (isTaken) takeArrived();
        else finish(denyBodyFailure(signal.aborted ? 'incomplete' : 'no_room'));
      }, reject);
    };
    const finishIncomplete = () => finish(denyBodyFailure('incomplete'));
    request.on('readable', takeArrived);
    request.on('end', () => finish(body.join()));
    request.on('close', finishIncomplete);
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || request.destroyed) finishIncomplete();
      else reject(error);
    });
    signal.addEventListener('abort', finishIncomplete);
  });
}

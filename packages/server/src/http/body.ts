/** Reads a request body into memory, up to a maximum size. Checks the content type. Does not interpret the body. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Denial } from '../execute/terms/denial.ts';
import { PieceCollector } from '../streams/piece-collector.ts';

/**
 * Returns the whole body, or the reason why it is refused. If the client leaves or the signal aborts, the result is a
 * denial that no client will read. A client that sent `expect: 100-continue` gets `100 Continue` only if its body is
 * wanted.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array | Denial> | Denial {
  const { headers } = request;
  if (!isJson(headers['content-type'])) {
    return unsupported('Send `content-type: application/json`, in UTF-8.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return unsupported('The body has a content-encoding; send it as it is.');
  }
  if (Number(headers['content-length'] ?? 0) > bytesMax) return tooLarge(bytesMax);
  if (signal.aborted) return INCOMPLETE;
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
      if (body.length > bytesMax) finish(tooLarge(bytesMax));
    };
    const finishIncomplete = () => finish(INCOMPLETE);
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

const INCOMPLETE = new Denial('invalid_request', 'The request ended before its body was whole.');

function tooLarge(bytesMax: number): Denial {
  return new Denial('payload_too_large', `The body is larger than ${bytesMax} bytes; send less in one call.`);
}

function unsupported(message: string): Denial {
  return new Denial('unsupported_media_type', message);
}

/** `application/json` without parameters, or with a charset of UTF-8 (RFC 9110 section 8.3). */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.split(';');
  if (type?.trim().toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => /^\s*(charset\s*=\s*"?utf-?8"?\s*)?$/i.test(parameter));
}

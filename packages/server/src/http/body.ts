/** Reads a request body whole, within its bound. Judges the content type; knows nothing of what is in the body. */
import type { IncomingMessage } from 'node:http';
import { Denial } from '../execute/denial.ts';

/** The whole body, or why it is not taken. A client that leaves mid-way gives a denial that nobody will read. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Uint8Array | Denial> | Denial {
  const { headers } = request;
  if (!isJson(headers['content-type'])) {
    return unsupported('Send `content-type: application/json`, in UTF-8.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return unsupported('The body has a content-encoding; send it as it is.');
  }
  if (Number(headers['content-length'] ?? 0) > bytesMax) return tooLarge(bytesMax);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > bytesMax) {
        request.pause();
        pieces.length = 0;
        resolve(tooLarge(bytesMax));
      } else {
        pieces.push(piece);
      }
    });
    request.on('end', () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)));
    request.on('close', () => resolve(CUT_OFF));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || request.destroyed) resolve(CUT_OFF);
      else reject(error);
    });
  });
}

const CUT_OFF = new Denial('invalid_request', 'The request ended before its body was whole.');

/** What is left of a body that is not read must not be taken for the next request. */
const CLOSE = { connection: 'close' };

function tooLarge(bytesMax: number): Denial {
  return new Denial(
    'payload_too_large',
    `The body is larger than ${bytesMax} bytes; send less in one call.`,
    {
      headers: CLOSE,
    },
  );
}

function unsupported(message: string): Denial {
  return new Denial('unsupported_media_type', message, { headers: CLOSE });
}

/** `application/json`, with no parameter or with a charset that is UTF-8 (RFC 9110 section 8.3). */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.split(';');
  if (type?.trim().toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => /^\s*(charset\s*=\s*"?utf-?8"?\s*)?$/i.test(parameter));
}

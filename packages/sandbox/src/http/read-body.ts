/**
 * Reads the whole body, with a length or chunked. Like Odoo, gives up if the client stalls for 2 s
 * (docs/odoo-facts.md#slow-body).
 */
import type { IncomingMessage } from 'node:http';

/** undefined: the client stalled. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const stalled = () => resolve(undefined);
    let timer = setTimeout(stalled, stallMs);
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(stalled, stallMs);
    });
    request.on('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    request.on('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

const stallMs = 2000;

/**
 * Reads the whole body, with a length or chunked. Like Odoo, gives up if the client stalls for 2 s
 * (docs/odoo-facts.md#slow-body).
 */
import type { IncomingMessage } from 'node:http';
import { type Body, BodyCollector } from './collect-body.ts';

/** undefined: the client stalled. */
export function readBody(request: IncomingMessage): Promise<Body | undefined> {
  return new Promise((resolve) => {
    const collector = new BodyCollector();
    const stalled = () => resolve(undefined);
    let timer = setTimeout(stalled, stallMs);
    request.on('data', (chunk: Buffer) => {
      collector.add(chunk);
      clearTimeout(timer);
      timer = setTimeout(stalled, stallMs);
    });
    request.on('end', () => {
      clearTimeout(timer);
      resolve(collector.end());
    });
    request.on('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

const stallMs = 2000;

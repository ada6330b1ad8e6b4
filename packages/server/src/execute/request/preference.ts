/** The header `prefer` (RFC 7240). Unknown preferences are ignored, as it demands. */
import type { Exchange } from '../terms/exchange.ts';

/** Whether the caller prefers normalized values. Names of preferences are case-insensitive, values are not. */
export function prefersNormalized(exchange: Pick<Exchange, 'header'>): boolean {
  const header = exchange.header('prefer');
  if (header === undefined) return false;
  // The first of several preferences with one name counts (RFC 7240, section 2).
  const values = header.split(',').map((preference) => /^\s*values\s*=([^;]*)/i.exec(preference)?.[1]);
  const first = values.find((value) => value !== undefined);
  return first !== undefined && /^\s*(normalized|"normalized")\s*$/.test(first);
}

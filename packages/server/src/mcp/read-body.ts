/** Reads the body of a request to `/mcp` within its limits. */
import { Denial } from '../execute/terms/denial.ts';
import { parseDocument } from '../execute/thread/large-calls.ts';

/** The value is read at once, which must not keep other callers waiting for long. */
const BODY_BYTES_MAX = 1024 * 1024;
export const DEPTH_MAX = 100;

export async function readBody(bytes: Uint8Array, signal: AbortSignal): Promise<{ value: unknown } | Denial> {
  if (bytes.length > BODY_BYTES_MAX) {
    return new Denial('payload_too_large', `A request to /mcp may have ${BODY_BYTES_MAX / 2 ** 20} MiB.`);
  }
  const document = await parseDocument(bytes, DEPTH_MAX, signal);
  return document instanceof Denial ? document : { value: JSON.parse(Buffer.from(bytes).toString()) };
}

/** Reads the body of a request to `/mcp` within its limits. */
import { Denial } from '../execute/terms/denial.ts';
import { readDocument } from '../json/document.ts';
import { JsonDepthError, JsonSyntaxError } from '../json/syntax-error.ts';

/** Requests are parsed at once, which must not keep other callers waiting for long. */
const BODY_BYTES_MAX = 1024 * 1024;
export const DEPTH_MAX = 100;

export function readBody(bytes: Uint8Array): { value: unknown } | Denial {
  if (bytes.length > BODY_BYTES_MAX) {
    return new Denial('payload_too_large', `A request to /mcp may have ${BODY_BYTES_MAX / 2 ** 20} MiB.`);
  }
  try {
    readDocument(bytes, DEPTH_MAX);
  } catch (error) {
    if (error instanceof JsonDepthError) {
      return new Denial('invalid_request', `The body is nested more than ${DEPTH_MAX} levels deep.`);
    }
    if (!(error instanceof JsonSyntaxError)) throw error;
    return new Denial('parse_error', `The body is not valid JSON at byte ${error.offset}: ${error.reason}.`);
  }
  return { value: JSON.parse(Buffer.from(bytes).toString()) };
}

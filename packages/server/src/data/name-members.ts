/**
 * Names members as the caller of a route that moves data did, in an error about the call that was built from them.
 * Pure.
 */
import { viewAsBuffer } from '../json/buffer.ts';

const ERROR_START = ',"error":';
const NAMED_ARGUMENT = '"path":"keyword.';

/** `answer`: a whole answer with an error. Its `id`, which the caller chose, stays as it is. */
export function nameMembers(answer: Uint8Array): Uint8Array {
  const bytes = viewAsBuffer(answer);
  // The quotes of a text in `id` are escaped.
  const start = bytes.indexOf(ERROR_START);
  if (start < 0) return answer;
  const error = bytes.toString('utf8', start);
  if (!error.includes(NAMED_ARGUMENT)) return answer;
  const named = error.replaceAll(/keyword\.(?=context|fields)/g, '');
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(named)]);
}

/**
 * Names members as the caller of a route that moves data did, in an error about the call that was built from them.
 * Pure.
 */
import { viewAsBuffer } from '@erp-proxy/json';

const ERROR_START = ',"error":';
/** What a text names, or the member `path`. */
const ARGUMENT = /(`|"path":")keyword\.(?=context\b|fields\b)/g;
const POSITIONAL = /(`|"path":")params\[[01]\]/g;
/** The domain of an example, within the list of positional arguments. */
const EXAMPLE = /in `params` `\[(\[\[.*?\]\])\]`/g;

/**
 * `answer`: a whole answer with an error. Its `id`, which the caller chose, stays as it is. `positional`: the member
 * that became one of the positional arguments.
 */
export function nameMembers(answer: Uint8Array, positional: 'domain' | 'record' | 'values'): Uint8Array {
  const bytes = viewAsBuffer(answer);
  // The quotes of a text in `id` are escaped.
  const start = bytes.indexOf(ERROR_START);
  if (start < 0) return answer;
  const error = bytes.toString('utf8', start);
  const named = error
    .replaceAll(ARGUMENT, '$1')
    .replaceAll(POSITIONAL, `$1${positional}`)
    .replaceAll(EXAMPLE, 'in `domain` `$1`');
  if (named === error) return answer;
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(named)]);
}

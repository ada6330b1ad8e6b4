/** Restores the caller's names of members in an error about the call that a data route has built from them. Pure. */
import { viewAsBuffer } from '@erp-proxy/json';

const ERROR_START = ',"error":';
/** Names of members, quoted in a text or as the member `path`. */
const ARGUMENT = /(`|"path":")keyword\.(?=context\b|fields\b)/g;
const POSITIONAL = /(`|"path":")params\[[01]\]/g;
/** The domain of an example, within the list of positional arguments. */
const EXAMPLE = /in `params` `\[(\[\[.*?\]\])\]`/g;

/**
 * `answer`: an error answer as a whole. Its `id`, which the caller chose, stays unchanged. `positional`: the member
 * that became one of the positional arguments.
 */
export function nameMembers(answer: Uint8Array, positional: 'domain' | 'record' | 'values'): Uint8Array {
  const bytes = viewAsBuffer(answer);
  // Cannot match within `id`, where quotes in a text are escaped.
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

/**
 * A fault of `/json/2` for a caller who speaks it: named and worded as that server did it, where json2-faults.ts gives the
 * name and the text of `/jsonrpc`. What kind of mistake it is does not change.
 */
import { type ClassifyOptions, classifyFault, type Fault } from './faults.ts';

/** `translated`: the same fault as {@link classifyFault} gives it for the body of `/json/2`. */
export function classifyOwnJson2Fault(body: Uint8Array, translated: Fault, options: ClassifyOptions): Fault {
  // Within an envelope nothing is translated.
  const own = classifyFault({ data: JSON.parse(new TextDecoder().decode(body)) }, options);
  const { type, retryable, status } = translated.data;
  return { code: translated.code, message: own.message, data: { ...own.data, type, retryable, status } };
}

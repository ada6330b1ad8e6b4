/**
 * Restores the class and the message that the server sent for a fault of `/json/2`, for callers that speak `/json/2`
 * themselves. json2-faults.ts replaces them by those of `/jsonrpc`. The type of the mistake stays.
 */
import { type ClassifyOptions, classifyFault, type Fault } from './faults.ts';

/** `translated` is what {@link classifyFault} returned for the same body. */
export function classifyOwnJson2Fault(body: Uint8Array, translated: Fault, options: ClassifyOptions): Fault {
  // Inside an envelope of `/jsonrpc`, no translation takes place.
  const own = classifyFault({ data: JSON.parse(new TextDecoder().decode(body)) }, options);
  const { type, retryable, status } = translated.data;
  return { code: translated.code, message: own.message, data: { ...own.data, type, retryable, status } };
}

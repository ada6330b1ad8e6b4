/** Converts a method call into the request of `/json/2`, if it is certain that the outcome is that of `/jsonrpc`. */
import type { Fault } from '../faults/faults.ts';
import type { Signature } from '../signatures/signature.ts';
import { mapArguments } from './json2-arguments.ts';
import { type NamedCall, readNamedCall } from './json2-named.ts';
import { buildJson2Request, type Json2Call } from './json2-request.ts';
import { chooseResultShape, type ResultShape } from './json2-result.ts';

export type MappedCall =
  | {
      head: { path: string; headers: Record<string, string> };
      body: Uint8Array;
      isIdsGuess: boolean;
      resultShape: ResultShape;
    }
  | { fault: Fault }
  /** Why the call cannot be sent over `/json/2`. */
  | { unmappable: string }
  /** The caller gave records to a method of the model, which takes none. */
  | { takesRecords: false };

/** `signature` undefined: the parameters are not known. `hasChoice`: the server has both protocols. */
export function mapCall(
  { model, method, params, keyword, records }: Pick<Json2Call, 'model' | 'method'> & NamedCall,
  target: Pick<Json2Call, 'pathPrefix' | 'db' | 'apiKey'>,
  signature: Signature | undefined,
  hasChoice: boolean,
): MappedCall {
  const head = buildJson2Request({ ...target, model, method });
  if ('unmappable' in head) return head;
  if (signature === undefined) {
    if (hasChoice) return { unmappable: 'its parameters are not known' };
    const named = readNamedCall({ params, keyword, records });
    return 'unmappable' in named ? named : { head, ...named, resultShape: chooseResultShape(method, params) };
  }
  if (records === 'given' && signature.kind === 'model') return { takesRecords: false };
  const mapped = mapArguments({ method, signature, params, keyword, secrets: [target.apiKey] });
  if (!('body' in mapped)) return mapped;
  return { head, ...mapped, isIdsGuess: false, resultShape: chooseResultShape(method, params) };
}

/** Converts a method call into the request of `/json/2`, if it is certain that the outcome is that of `/jsonrpc`. */
import type { Fault } from '../../odoo/faults/faults.ts';
import { mapArguments } from '../../odoo/json2/json2-arguments.ts';
import { readNamedCall } from '../../odoo/json2/json2-named.ts';
import { buildJson2Request } from '../../odoo/json2/json2-request.ts';
import { chooseResultShape, type ResultShape } from '../../odoo/json2/json2-result.ts';
import type { Signature } from '../../odoo/signatures/signature.ts';
import { denyIds } from '../terms/caller-denials.ts';
import type { Denial } from '../terms/denial.ts';
import type { MethodCall } from '../terms/method-call.ts';
import type { Target } from '../terms/target.ts';

export type MappedCall =
  | {
      head: { path: string; headers: Record<string, string> };
      body: Uint8Array;
      isIdsGuess: boolean;
      resultShape: ResultShape;
    }
  | { fault: Fault }
  | { unmappable: string }
  | { denied: Denial };

/** `signature` undefined: it is not known. `hasChoice`: the server has both protocols. */
export function mapCall(
  { model, method, params, keyword, records }: Omit<MethodCall, 'isReadOnly'>,
  target: Pick<Target, 'pathPrefix' | 'db' | 'apiKey'>,
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
  if (records === 'given' && signature.kind === 'model') return { denied: denyIds(model, method) };
  const mapped = mapArguments({ method, signature, params, keyword, secrets: [target.apiKey] });
  if (!('body' in mapped)) return mapped;
  return { head, ...mapped, isIdsGuess: false, resultShape: chooseResultShape(method, params) };
}

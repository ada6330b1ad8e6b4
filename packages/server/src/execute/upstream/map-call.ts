/** Converts a method call into the request of `/json/2`, if it is certain that the outcome is that of `/jsonrpc`. */
import type { Fault } from '@erp-proxy/odoo/faults';
import {
  buildJson2Request,
  chooseResultShape,
  mapArguments,
  type ResultShape,
  readNamedCall,
} from '@erp-proxy/odoo/json2';
import type { Signature } from '@erp-proxy/odoo/signatures';
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

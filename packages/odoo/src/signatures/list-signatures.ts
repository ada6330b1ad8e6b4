/** All signatures of the tables, for descriptions of what can be called. */
import { MODEL_SIGNATURES } from './model-signatures.ts';
import type { Signature } from './signature.ts';
import { OVERRIDES, SIGNATURES } from './signatures.ts';

export interface NamedSignature {
  /** Null: every model has the method. */
  model: string | null;
  method: string;
  signature: Signature;
}

export function listSignatures(): NamedSignature[] {
  return [
    ...Array.from(SIGNATURES, ([method, signature]) => ({ model: null, method, signature })),
    ...Array.from([...OVERRIDES, ...MODEL_SIGNATURES], ([name, signature]) => {
      const [model = '', method = ''] = name.split('/');
      return { model, method, signature };
    }),
  ];
}

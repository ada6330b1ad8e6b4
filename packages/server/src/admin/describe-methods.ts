/** Describes the methods whose parameters are known, for forms. Pure. */
import type { MethodView } from '@erp-proxy/contract';
import { classifyAction, isReadOnlyMethod } from '../odoo/methods.ts';
import { MODEL_SIGNATURES } from '../odoo/signatures/model-signatures.ts';
import type { Signature } from '../odoo/signatures/signature.ts';
import { OVERRIDES, SIGNATURES } from '../odoo/signatures/signatures.ts';

/** Without methods that Odoo refuses. */
export function describeMethods(): MethodView[] {
  return [
    ...Array.from(SIGNATURES, ([method, signature]) => ({ model: null, method, signature })),
    ...Array.from([...OVERRIDES, ...MODEL_SIGNATURES], ([name, signature]) => {
      const [model = '', method = ''] = name.split('/');
      return { model, method, signature };
    }),
  ]
    .filter(({ signature }) => !signature.isPrivate)
    .map(({ model, method, signature }) => ({
      action: method,
      model,
      kind: checkKind(method, model),
      params: listPositional(signature),
    }));
}

function checkKind(method: string, model: string | null): MethodView['kind'] {
  if (method === 'unlink') return 'delete';
  if (isReadOnlyMethod(method, model ?? undefined)) return 'read';
  return classifyAction(method) === 'write' ? 'write' : 'unknown';
}

function listPositional({ kind, parameters }: Signature): MethodView['params'] {
  const positional = parameters.filter(({ kind }) => kind === 'positional' || kind === 'positional_only');
  return [
    ...(kind === 'ids' ? [{ name: 'ids', required: true as const }] : []),
    ...positional.map(({ name, isRequired }) => (isRequired ? { name, required: true as const } : { name })),
  ];
}

/** Describes the methods with known parameters, for forms. Pure. */
import type { MethodView } from '@erp-proxy/contract';
import { classifyAction, isReadOnlyMethod } from '@erp-proxy/odoo';
import { listSignatures, type Signature } from '@erp-proxy/odoo/signatures';

/** All known methods except those that Odoo refuses. */
export function describeMethods(): MethodView[] {
  return listSignatures()
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

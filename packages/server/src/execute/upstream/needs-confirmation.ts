/**
 * Decides whether a person must confirm a call before it is sent. If that depends on the values, they
 * are checked as Odoo gets them, by the types of fields. What cannot be known counts as a removal.
 */
import { findValue, readDocument, readMembers } from '@erp-proxy/json';
import { findRemoval, type LackingFields } from '@erp-proxy/odoo/related';
import type { FieldTypes } from '@erp-proxy/odoo/values';
import type { CallContext } from '../terms/call-context.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { TargetedCall } from '../terms/method-call.ts';

/** Commands are nested through at most this number of models, as in convert-values.ts. */
const MODELS_MAX = 16;

export type NeedsConfirmation = (call: TargetedCall, context: CallContext) => Promise<boolean>;

export function createNeedsConfirmation(fields: FieldFinder): NeedsConfirmation {
  return async (call, context) => {
    const { confirmation } = context;
    if (confirmation === null) return false;
    return confirmation.of === 'all' || (await removesRecords(call, context, fields));
  };
}

async function removesRecords(
  call: TargetedCall,
  context: CallContext,
  fields: FieldFinder,
): Promise<boolean> {
  const types = new Map<string, FieldTypes>();
  const asked = new Map<string, Set<string>>();
  for (;;) {
    const found = findIn(call, { types, asked });
    if (typeof found === 'boolean') return found;
    for (const [model, names] of found) {
      if (!asked.has(model) && asked.size === MODELS_MAX) return true;
      const known = asked.get(model) ?? new Set();
      asked.set(model, known);
      for (const name of names) known.add(name);
      const learnt = await fields.find({ target: call.target, model }, names, context);
      if ('types' in learnt) types.set(model, learnt.types);
    }
  }
}

function findIn(
  { model, params, keyword }: TargetedCall,
  learnt: Parameters<typeof findRemoval>[2]['learnt'],
): boolean | LackingFields {
  const inParams = findRemoval(params, { start: 0, end: params.length }, { model, learnt });
  if (inParams !== false) return inParams;
  const { root } = readDocument(keyword);
  const context = findValue(readMembers(keyword, root), 'context');
  return context === undefined ? false : findRemoval(keyword, context, { model: null, learnt });
}

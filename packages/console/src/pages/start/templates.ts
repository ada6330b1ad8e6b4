/** The policy templates on the start page, each with a first call that the policy allows. */
import { listPolicyTemplates, type PolicyTemplate } from '../../parts/policy-templates.ts';
import type { CallParts } from '../../parts/print-call.ts';

const readSome = (model: string, fields: string[]): CallParts => ({
  model_id: model,
  action: 'search_read',
  params: [[]],
  keyword: { fields, limit: 3 },
});

const PARTNERS = readSome('res.partner', ['name', 'email', 'country_id']);

/** Keyed by id of the template. */
const FIRST_CALLS: Record<string, CallParts> = {
  shop: PARTNERS,
  reporting: readSome('sale.order', ['name', 'partner_id', 'amount_total', 'state']),
  'agent-reads': PARTNERS,
  'agent-drafts': PARTNERS,
  developer: PARTNERS,
};

export interface StartTemplate extends PolicyTemplate {
  firstCall: CallParts;
}

export function listStartTemplates(instance: string): StartTemplate[] {
  return listPolicyTemplates(instance).flatMap((template) => {
    const firstCall = FIRST_CALLS[template.id];
    return firstCall === undefined ? [] : [{ ...template, firstCall }];
  });
}

/** Returns the first template if none has the id. */
export function findTemplate(id: string | undefined, instance: string): StartTemplate {
  const templates = listStartTemplates(instance) as [StartTemplate];
  return templates.find((template) => template.id === id) ?? templates[0];
}

/** Policies to begin with (docs/policies.md), each with a first call that it allows. */
import type { Policy } from '@erp-proxy/contract';
import type { CallParts } from '../../parts/print-call.ts';

export interface Template {
  id: 'shop' | 'reporting' | 'agent' | 'drafts' | 'developer';
  label: string;
  description: string;
  policy: Omit<Policy, 'instances'>;
  firstCall: CallParts;
}

const SUMS = ['search_read', 'search_count', 'read_group', 'formatted_read_group', 'fields_get'];
const READS = ['read', 'search_read', 'search_count', 'read_group', 'fields_get'];
const DRAFTS = [...READS, 'create', 'write'];

const readSome = (model: string, fields: string[]): CallParts => ({
  model_id: model,
  action: 'search_read',
  params: [[]],
  keyword: { fields, limit: 3 },
});

const PARTNERS = readSome('res.partner', ['name', 'email', 'country_id']);

export const TEMPLATES: readonly Template[] = [
  {
    id: 'shop',
    label: 'Shop',
    description: 'A web shop that shows products and partners, and changes nothing.',
    policy: {
      models: { 'product.*': ['*'], 'res.partner': ['read', 'search_read'] },
      read_only: true,
      limit_max: 200,
    },
    firstCall: PARTNERS,
  },
  {
    id: 'reporting',
    label: 'Reporting, read only',
    description: 'Sums and lists sales and invoices. Answers may be some minutes old.',
    policy: {
      models: {
        'sale.order': SUMS,
        'sale.order.line': SUMS,
        'account.move': SUMS,
        'account.move.line': SUMS,
      },
      read_only: true,
      cache: true,
      limit_max: 5000,
      concurrency: 4,
    },
    firstCall: readSome('sale.order', ['name', 'partner_id', 'amount_total', 'state']),
  },
  {
    id: 'agent',
    label: 'AI agent, read only',
    description: 'An agent that may read what its user in Odoo may read.',
    policy: {
      models: {
        '*': ['read', 'search_read', 'search_count', 'read_group', 'formatted_read_group', 'fields_get'],
        'res.users': ['context_get'],
      },
      read_only: true,
      limit_max: 200,
      rate: { requests: 120, seconds: 60 },
    },
    firstCall: PARTNERS,
  },
  {
    id: 'drafts',
    label: 'AI agent that drafts',
    description: 'Drafts quotations and invoices. It cannot confirm, post, send or delete.',
    policy: {
      models: {
        'sale.order*': DRAFTS,
        'account.move*': DRAFTS,
        'res.partner': ['read', 'search_read', 'search_count', 'fields_get'],
        'product.*': ['read', 'search_read', 'search_count', 'fields_get'],
        'res.users': ['read', 'context_get'],
        'res.company': ['read'],
      },
      rate: { requests: 120, seconds: 60 },
    },
    firstCall: PARTNERS,
  },
  {
    id: 'developer',
    label: 'Developer',
    description: 'All models and methods, except those that give away credentials or rights.',
    policy: { models: { '*': ['*'] }, rate: { requests: 600, seconds: 60 } },
    firstCall: PARTNERS,
  },
];

export function findTemplate(id: Template['id'] | undefined): Template {
  const [first] = TEMPLATES as [Template];
  return TEMPLATES.find((template) => template.id === id) ?? first;
}

export function applyTemplate({ policy }: Template, instance: string): Policy {
  return { instances: [instance], ...policy };
}

/** Templates of policies: those of docs/policies.md and docs/mcp.md. Pure. */
import type { Policy } from '@erp-proxy/contract';

export interface PolicyTemplate {
  id: string;
  name: string;
  /** One sentence: for whose key the policy is, and what it allows. */
  purpose: string;
  policy: Policy;
}

const READS = ['read', 'search_read', 'search_count', 'read_group', 'formatted_read_group', 'fields_get'];
const REPORT = ['search_read', 'search_count', 'read_group', 'formatted_read_group', 'fields_get'];
const DRAFTS = ['read', 'search_read', 'search_count', 'read_group', 'fields_get', 'create', 'write'];
const LOOKS = ['read', 'search_read', 'search_count', 'fields_get'];

/** `instance`: the stored instance that the policies allow, or a pattern. */
export function listPolicyTemplates(instance: string): PolicyTemplate[] {
  const instances = [instance];
  return [
    {
      id: 'shop',
      name: 'Shop',
      purpose: 'Shows products and partners, and cannot change anything.',
      policy: {
        instances,
        models: { 'product.*': ['*'], 'res.partner': ['read', 'search_read'] },
        read_only: true,
        limit_max: 200,
      },
    },
    {
      id: 'reporting',
      name: 'Reporting',
      purpose: 'Sums and lists sales and invoices. Answers may be some minutes old.',
      policy: {
        instances,
        models: {
          'sale.order': REPORT,
          'sale.order.line': REPORT,
          'account.move': REPORT,
          'account.move.line': REPORT,
        },
        read_only: true,
        cache: true,
        limit_max: 5_000,
        concurrency: 4,
      },
    },
    {
      id: 'agent-reads',
      name: 'Agent, reads only',
      purpose: 'An AI agent that reads any model, and cannot change anything.',
      policy: {
        instances,
        models: { '*': READS, 'res.users': ['context_get'] },
        read_only: true,
        limit_max: 200,
        rate: { requests: 120, seconds: 60 },
      },
    },
    {
      id: 'agent-drafts',
      name: 'Agent, drafts',
      purpose: 'An AI agent that drafts quotations and invoices, and cannot confirm, post or delete them.',
      policy: {
        instances,
        models: {
          'sale.order': DRAFTS,
          'sale.order.line': DRAFTS,
          'account.move': DRAFTS,
          'account.move.line': DRAFTS,
          'res.partner': LOOKS,
          'product.*': LOOKS,
          'account.tax': LOOKS,
          'res.users': ['read', 'context_get'],
          'res.company': ['read'],
        },
        fields: {
          'sale.order': { deny: ['state', 'locked', 'sign*'] },
          'account.move': {
            deny: [
              'state',
              'auto_post*',
              'payment_state',
              'is_move_sent',
              'posted_before',
              'checked',
              'statement_line_id',
              '*payment_id',
              'invoice_pdf_report*',
            ],
          },
        },
        rate: { requests: 120, seconds: 60 },
      },
    },
    {
      id: 'developer',
      name: 'Developer',
      purpose: 'Does anything on the instance, except sensitive methods, which a policy must name.',
      policy: { instances, models: { '*': ['*'] }, rate: { requests: 600, seconds: 60 } },
    },
    {
      id: 'page',
      name: 'Web page',
      purpose: 'A publishable key, which stands in the source of a page: what it reads is public.',
      policy: {
        publishable: true,
        read_only: true,
        cors_origins: ['https://shop.example.com'],
        instances,
        models: { 'product.template': ['read', 'search_read'], 'res.country': ['read', 'search_read'] },
        fields: {
          'product.template': { allow: ['name', 'list_price', 'currency_id', 'description_sale'] },
          'res.country': { allow: ['name', 'code'] },
        },
        limit_max: 100,
        rate: { requests: 60, seconds: 60 },
      },
    },
  ];
}

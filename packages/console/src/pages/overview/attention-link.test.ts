import { ATTENTION_KINDS, type AttentionKind } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { findAttentionLink, printTarget } from './attention-link.ts';

/** Targets in the form in which the API names them, by kind. */
const TARGETS: Record<AttentionKind, string> = {
  check_failed: 'check store',
  breaker_open: 'upstream https://odoo.example.com shop',
  audit_lost: 'audit',
  audit_waiting: 'audit',
  internal_errors: 'calls',
  instance_key_expired: 'instance prod',
  instance_key_expiring: 'instance prod',
  instance_key_not_rotated: 'instance prod',
  client_key_expired: 'key a1',
  client_key_expiring: 'key a1',
  publishable_key_open: 'key a1',
  subscription_disabled: 'subscription orders',
  subscription_failing: 'subscription orders',
  subscription_unreadable: 'subscription orders',
  approvals_pending: 'approvals',
  calls_refused: 'calls',
  method_not_named: 'key a1',
  reached_model_not_named: 'key a1',
  credential_field_not_named: 'key a1',
  admin_token_used: 'admin.token',
};
const WITHOUT_PAGE: ReadonlySet<AttentionKind> = new Set([
  'check_failed',
  'audit_lost',
  'audit_waiting',
  'admin_token_used',
]);

test.each(ATTENTION_KINDS.map((kind) => [kind, TARGETS[kind]] as const))(
  '%s leads to a page',
  (kind, target) => {
    const link = findAttentionLink({ kind, target });
    if (WITHOUT_PAGE.has(kind)) expect(link).toBeNull();
    else expect(link?.to).toMatch(/^\/(calls|approvals|(keys|instances|subscriptions)\/\$\w+)$/);
  },
);

test('a server that does not answer leads to its calls', () => {
  // The middle part identifies the trusted certificates.
  const open = { kind: 'breaker_open', target: 'upstream https://odoo.example.com e1f2 shop' } as const;
  expect(findAttentionLink(open)).toEqual({
    to: '/calls',
    search: { upstream: 'https://odoo.example.com', db: 'shop', last: '1h' },
  });
  expect(printTarget(open)).toBe('https://odoo.example.com shop');
});

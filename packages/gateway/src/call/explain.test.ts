import type { Policy } from '@erp-proxy/contract';
import { compilePolicy } from '@erp-proxy/policy';
import { describe, expect, test } from 'vitest';
import { explainCall } from './explain.ts';

const KEY = { revokedAt: null, expiresAt: null };
const POLICY = compilePolicy({
  instances: ['prod'],
  models: { 'sale.*': ['read', 'search*'] },
  limit_max: 5,
  companies: [1],
  cidrs: ['10.0.0.0/8'],
});
const CALL = { action: 'search', model_id: 'sale.order', erp_instance: { name: 'prod' } };

test('names the rule that allows the call, and the values that are set', () => {
  expect(explainCall(KEY, POLICY, { call: CALL, address: '10.0.0.1' }, 0)).toEqual({
    allowed: true,
    rule: 'models["sale.*"]',
    approval: null,
    message: 'The policy allows the call.',
    sets: { limit: 5, allowed_company_ids: [1] },
  });
});

test('names the members of the context that are set, and not those that the call gives', () => {
  const policy = compilePolicy({
    ...POLICY.policy,
    companies: [1, 2],
    context: { lang: 'fr_FR', tz: 'Europe/Paris', allowed_company_ids: [2] },
  });
  const call = { ...CALL, keyword: { limit: 1, context: { tz: 'UTC' } } };
  expect(explainCall(KEY, policy, { call, address: '10.0.0.1' }, 0).sets).toEqual({
    allowed_company_ids: [2],
    lang: 'fr_FR',
  });
});

test('says which rules were not checked', () => {
  expect(explainCall(KEY, POLICY, { call: CALL }, 0)).toMatchObject({
    allowed: true,
    message: 'The policy allows the call. Not looked at: `cidrs`, since no address is given.',
  });
  const limited = compilePolicy({
    ...POLICY.policy,
    rate: { requests: 1, seconds: 1 },
    per_month: 1,
    concurrency: 1,
  });
  expect(explainCall(KEY, limited, { call: CALL, address: '10.0.0.1' }, 0)).toMatchObject({
    message: 'The policy allows the call. Not looked at: `rate`; `per_month`; `concurrency`.',
  });
});

test('says that only the server knows where fields lead, and denies what cannot be read', () => {
  const policy = compilePolicy({ instances: ['prod'], models: { 'sale.order': ['search_count'] } });
  const explain = (condition: unknown) =>
    explainCall(KEY, policy, { call: { ...CALL, action: 'search_count', params: [[condition]] } }, 0);
  expect(explain(['partner_id.email', '=', 'x'])).toMatchObject({
    allowed: true,
    message:
      'The policy allows the call. Not looked at: `models` to which the fields of the call lead, which only the server knows.',
  });
  expect(explain(['partner_id', '=', 5]).message).toBe('The policy allows the call.');
  expect(explain(['partner_id', 'any', 5])).toMatchObject({ allowed: false, rule: 'models' });
});

test('shows the rule for fields that are named in a call without fields', () => {
  const withFields = (fields: NonNullable<Policy['fields']>) =>
    compilePolicy({ instances: ['prod'], models: { 'sale.*': ['*'] }, fields });
  const read = { ...CALL, action: 'read', params: [[1]] };
  const deny = withFields({ 'sale.*': { deny: ['note'] }, 'sale.order': { deny: ['margin*'] } });
  expect(explainCall(KEY, deny, { call: read }, 0)).toMatchObject({
    allowed: true,
    message: expect.stringContaining('Not looked at: `fields` of related records'),
    sets: { fields: { deny: ['note', 'margin*'] } },
  });
  const allow = withFields({ 'sale.order': { allow: ['name'] } });
  expect(explainCall(KEY, allow, { call: read }, 0).sets).toEqual({ fields: { allow: ['name'] } });
  const named = { ...read, keyword: { fields: ['note'] } };
  expect(explainCall(KEY, deny, { call: named }, 0)).toMatchObject({
    allowed: false,
    rule: 'fields["sale.*"]',
  });
  expect(explainCall(KEY, allow, { call: { ...read, model_id: 'sale.report' } }, 0).sets).toEqual({});
});

test('denies a caller from another address before its call is parsed', () => {
  expect(explainCall(KEY, POLICY, { call: 'nonsense', address: '11.0.0.1' }, 0)).toMatchObject({
    allowed: false,
    rule: 'cidrs',
  });
});

test('names the rule that denies the call, with the message that the caller gets', () => {
  expect(explainCall(KEY, POLICY, { call: { ...CALL, action: 'write' } }, 0)).toEqual({
    allowed: false,
    rule: 'models["sale.*"]',
    approval: null,
    message: 'This key may not call `write` of `sale.order`. Ask the operator to allow it.',
    sets: {},
  });
  expect(explainCall(KEY, POLICY, { call: CALL, address: '11.0.0.1' }, 0)).toMatchObject({ rule: 'cidrs' });
  expect(explainCall(KEY, POLICY, { call: CALL, origin: 'https://a.test' }, 0)).toMatchObject({
    rule: 'cors_origins',
  });
});

test('allows every call for a key without a policy', () => {
  expect(explainCall(KEY, null, { call: CALL }, 0)).toMatchObject({ allowed: true, rule: null, sets: {} });
});

test('denies a web page for a key without a policy', () => {
  expect(explainCall(KEY, null, { call: CALL, origin: 'https://a.test' }, 0)).toMatchObject({
    allowed: false,
    rule: 'cors_origins',
  });
});

describe('names no rule, but the reason, for', () => {
  test.each<[string, { revokedAt: number | null; expiresAt: number | null }, RegExp]>([
    ['a revoked key', { revokedAt: 1, expiresAt: null }, /revoked/],
    ['an expired key', { revokedAt: null, expiresAt: 5 }, /expired/],
  ])('%s', (_, key, message) => {
    expect(explainCall(key, POLICY, { call: CALL }, 5)).toEqual({
      allowed: false,
      rule: null,
      approval: null,
      message: expect.stringMatching(message),
      sets: {},
    });
  });

  test.each<[unknown, RegExp]>([
    [undefined, /must be an object/],
    [[CALL], /one call at a time/],
    [{ ...CALL, acton: 'read' }, /Did you mean `action`/],
    [{ ...CALL, keyword: { limit: -1 } }, /keyword\.limit/],
    [{ ...CALL, erp_instance: { url: 'nowhere', db: 'a', user_id: 2, api_key: 'k' } }, /erp_instance\.url/],
  ])('a value that is not a call: %j', (call, message) => {
    expect(explainCall(KEY, POLICY, { call }, 0)).toMatchObject({
      allowed: false,
      rule: null,
      approval: null,
      message: expect.stringMatching(message),
    });
  });
});

test('denies a call that is nested too deep, at any depth', () => {
  const nest = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  const deepest = { ...CALL, keyword: { context: { a: nest(509) } } };
  expect(explainCall(KEY, null, { call: deepest }, 0)).toMatchObject({ allowed: true });
  for (const depth of [510, 100_000])
    expect(
      explainCall(KEY, null, { call: { ...CALL, keyword: { context: { a: nest(depth) } } } }, 0),
    ).toMatchObject({ allowed: false, message: expect.stringContaining('512 levels') });
});

test('names the rule because of which an allowed call needs an approval', () => {
  const policy = compilePolicy({ ...POLICY.policy, approve: { 'sale.*': ['search', 'unlink'] } });
  const explain = (action: string) =>
    explainCall(KEY, policy, { call: { ...CALL, action }, address: '10.0.0.1' }, 0);
  expect(explain('search')).toMatchObject({
    allowed: true,
    approval: 'approve["sale.*"]',
    message:
      'The policy allows the call. It runs only after an administrator has approved it, because of `approve["sale.*"]`.',
  });
  expect(explain('search_count')).toMatchObject({ allowed: true, approval: null });
  expect(explain('unlink')).toMatchObject({ allowed: false, approval: null });
});

test('a record of a model that the proxy cannot tell is refused with what Odoo accepts', () => {
  const policy = compilePolicy({
    instances: ['prod'],
    models: { 'mail.activity': ['*'], 'crm.lead': ['*'] },
  });
  const explain = (action: string, params: unknown[], keyword = {}) =>
    explainCall(KEY, policy, { call: { ...CALL, action, model_id: 'mail.activity', params, keyword } }, 0);
  // Odoo needs the id of the model: it refuses `res_model` in its place, and takes the default.
  const values = { res_model: 'crm.lead', res_model_id: 80, res_id: 7 };
  expect(explain('create', [values])).toMatchObject({
    allowed: false,
    message:
      '`res_model_id` leads to a record whose name Odoo then shows, and the proxy cannot tell of which model it is. Leave it out, and name the model of a new record in `default_res_model` of the context. For an activity, you can also call `activity_schedule` of its record.',
  });
  expect(explain('create', [{ res_id: 7 }], { context: { default_res_model: 'crm.lead' } })).toMatchObject({
    allowed: true,
  });
  expect(explain('write', [[1], { res_id: 7 }]).message).toContain(
    'Name the model in `res_model` beside it, or, for a new record, in `default_res_model`',
  );
});

test('a method of the same effect needs the approval of `create` or `write`', () => {
  const policy = (approve: NonNullable<Policy['approve']>) =>
    compilePolicy({ ...POLICY.policy, models: { '*': ['*', 'x_sync'] }, approve });
  const explain = (method: string, params: unknown[], approve: NonNullable<Policy['approve']>) =>
    explainCall(KEY, policy(approve), { call: { ...CALL, action: method, params }, address: '10.0.0.1' }, 0)
      .approval;
  const write = { 'sale.*': ['write'] };
  const create = { 'sale.*': ['create'] };
  for (const method of ['action_archive', 'toggle_active', 'web_save_multi'])
    expect(explain(method, [[1]], write)).toBe('approve["sale.*"]');
  expect(explain('load', [['name'], []], write)).toBe('approve["sale.*"]');
  expect(explain('web_save', [[1], {}, {}], write)).toBe('approve["sale.*"]');
  expect(explain('web_save', [[1], {}, {}], create)).toBeNull();
  expect(explain('web_save', [[], {}, {}], create)).toBe('approve["sale.*"]');
  expect(explain('web_save', [[], {}, {}], write)).toBeNull();
  expect(explain('x_sync', [[1]], write)).toBeNull();
  const any = policy({ '*': ['create', 'write'] });
  for (const action of [
    'create_product_variant',
    'website_publish_button',
    'set_sequence_top',
    'activity_schedule',
  ]) {
    const call = { ...CALL, action, model_id: 'product.template', params: [[1]] };
    expect(explainCall(KEY, any, { call, address: '10.0.0.1' }, 0).approval, action).toBe('approve["*"]');
  }
  expect(explain('activity_schedule', [[1]], write)).toBeNull();
});

test('a record that has fields of another one by delegation needs the approval of that one too', () => {
  const models = { 'product.*': ['*'], 'sale.order': ['*'] };
  const approve = { 'product.template': ['create', 'write', 'unlink'] };
  const policy = compilePolicy({ instances: ['prod'], models, approve });
  const explain = (action: string, params: unknown[], model_id = 'product.product') =>
    explainCall(KEY, policy, { call: { ...CALL, action, model_id, params } }, 0).approval;
  expect(explain('create', [{}])).toBe('approve["product.template"]');
  for (const method of ['write', 'web_save'])
    expect(explain(method, [[1], {}])).toBe('approve["product.template"]');
  expect(explain('unlink', [[1]])).toBeNull();
  expect(explain('read', [[1]])).toBeNull();
  expect(explain('write', [[1], {}], 'sale.order')).toBeNull();
});

test('says what `*` stands for on the model of the call, if an entry for it has `*`', () => {
  const explain = (policy: Partial<Policy>, action: string) =>
    explainCall(
      KEY,
      compilePolicy({ instances: ['prod'], models: { 'sale.*': ['*'] }, ...policy }),
      { call: { ...CALL, action } },
      0,
    );
  for (const action of ['action_confirm', 'x_sync', 'message_notify']) {
    const { star } = explain({}, action);
    expect(star?.methods).toContain('action_confirm');
    expect(star?.left_out).toContainEqual({
      method: 'find_or_create_record',
      reason: 'reaches records of any model',
    });
  }
  expect(explain({}, 'x_sync')).toMatchObject({ allowed: false, rule: 'allow_unknown_methods' });
  expect(explain({ allow_unknown_methods: true }, 'x_sync')).not.toHaveProperty('star');
  expect(explain({ models: { 'sale.order': ['read'] } }, 'read')).not.toHaveProperty('star');
});

test('says which fields with credentials a call that names no fields does not get, and denies one that names such a field', () => {
  const policy = compilePolicy({ instances: ['prod'], models: { '*': ['*'] } });
  const explain = (...params: unknown[]) =>
    explainCall(KEY, policy, { call: { ...CALL, action: 'read', model_id: 'res.users', params } }, 0);
  expect(explain([1]).sets).toMatchObject({
    fields: { deny: expect.arrayContaining(['microsoft_calendar_rtoken']) },
  });
  expect(explain([1], ['login'])).toMatchObject({ allowed: true, sets: {} });
  expect(explain([1], ['login', 'microsoft_calendar_rtoken'])).toMatchObject({
    allowed: false,
    rule: 'fields',
  });
});

/** Tests which methods `*` stands for in the entries of a policy. */
import type { Policy } from '@erp-proxy/contract';
import { findUnknown, isReadOnlyMethod, listMethods, listModels } from '@erp-proxy/odoo';
import { NO_FIELD_USES } from '@erp-proxy/odoo/fields';
import { NO_RELATED_WRITES } from '@erp-proxy/odoo/related';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { describeStar, findUnnamed, mayCall, mayCallAnywhere, mayCallUnattended } from './abilities.ts';
import { compilePolicy } from './compile.ts';
import { type Decision, decide, decideApproval } from './decide.ts';
import { parsePolicy } from './parse.ts';

function compile(policy: Partial<Policy>) {
  const parsed = parsePolicy({ instances: ['prod'], models: { 'crm.lead': ['*'] }, ...policy });
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
  return compilePolicy(parsed.policy);
}

function check(policy: Partial<Policy>, model: string, method: string): Decision {
  return decide(compile(policy), {
    server: { instance: 'prod' },
    model,
    method,
    isReadOnly: isReadOnlyMethod(method, model),
    sensitivity: findSensitivity(model, method),
    findRelatedRead: () => null,
    listReadEffects: () => [],
    findRelatedWrites: () => NO_RELATED_WRITES,
    listEquivalents: () => [],
    listFieldUses: () => NO_FIELD_USES,
    countRecords: () => null,
    readContext: () => ({ allowed: null, others: [], names: [], leftOut: [] }),
  });
}

/** The rule that denies; null: the call is allowed. */
function findDenying(policy: Partial<Policy>, model: string, method: string): string | null {
  const decision = check(policy, model, method);
  return decision.allowed ? null : decision.rule;
}

describe('`*` alone', () => {
  test.each(['action_set_won', 'message_post', 'write', 'search_read'])('stands for %s', (method) => {
    expect(findDenying({}, 'crm.lead', method)).toBeNull();
  });

  test('does not stand for a method that no table knows, and the message names the entry to add', () => {
    expect(check({}, 'crm.lead', 'x_sync')).toEqual({
      allowed: false,
      rule: 'allow_unknown_methods',
      message:
        '`x_sync` of `crm.lead` is not known to keep to records of its model, so that `*` does not stand for it. Ask the operator to name it: "x_sync" in `models["crm.lead"]`.',
    });
  });

  test('does not stand for a method that takes the name of a model', () => {
    expect(findDenying({}, 'crm.lead', 'find_or_create_record')).toBe('sensitive_methods');
    expect(check({}, 'crm.lead', 'message_notify')).toMatchObject({ rule: 'allow_unknown_methods' });
    expect(check({ models: { '*': ['*'] } }, 'mail.activity', 'action_feedback')).toMatchObject({
      rule: 'allow_unknown_methods',
      message: expect.stringContaining('to methods that reach more than its records'),
    });
  });

  test('does not stand for a method that shows values of other models, and says which entry to add', () => {
    expect(check({}, 'crm.lead', 'message_get_followers')).toEqual({
      allowed: false,
      rule: 'allow_unknown_methods',
      message:
        '`message_get_followers` of `crm.lead` returns values of records of other models, so that `*` does not stand for it. Ask the operator to name it: "message_get_followers" in `models["crm.lead"]`.',
    });
    const named = { models: { 'crm.lead': ['*', 'message_get_followers'] } };
    expect(findDenying(named, 'crm.lead', 'message_get_followers')).toBeNull();
  });

  test('stands for methods of the ORM and of mixins on a model of a custom module, and for no other', () => {
    const policy = { models: { '*': ['*'] } };
    expect(findDenying(policy, 'x_fleet.contract', 'message_post')).toBeNull();
    expect(findDenying(policy, 'x_fleet.contract', 'action_confirm')).toBe('allow_unknown_methods');
  });
});

describe('a method that `*` does not stand for is allowed by', () => {
  test.each<[string, Partial<Policy>]>([
    ['its name', { models: { 'crm.lead': ['*', 'x_sync'] } }],
    ['a pattern with other text', { models: { 'crm.lead': ['x_*'] } }],
    ['such a pattern behind `*`', { models: { 'crm.lead': ['*', '*_sync'] } }],
    ['another entry for the model', { models: { 'crm.lead': ['*'], 'crm.*': ['x_sync'] } }],
    ['`allow_unknown_methods`', { allow_unknown_methods: true }],
  ])('%s', (_, policy) => {
    expect(findDenying(policy, 'crm.lead', 'x_sync')).toBeNull();
    expect(mayCall(compile(policy), 'crm.lead', 'x_sync')).toBe(true);
    expect(findUnnamed(compile(policy), 'crm.lead', 'x_sync')).toBeNull();
  });
});

test('`allow_unknown_methods: false` is as without it, and no value allows what must be named literally', () => {
  expect(findDenying({ allow_unknown_methods: false }, 'crm.lead', 'x_sync')).toBe('allow_unknown_methods');
  expect(findDenying({ allow_unknown_methods: true }, 'crm.lead', 'find_or_create_record')).toBe(
    'sensitive_methods',
  );
});

test('a model without an entry with `*` is denied by its entry, as before', () => {
  expect(findDenying({ models: { 'crm.lead': ['read'] } }, 'crm.lead', 'x_sync')).toBe('models["crm.lead"]');
  expect(findUnnamed(compile({ models: { 'crm.lead': ['read'] } }), 'crm.lead', 'x_sync')).toBeNull();
});

test('in `unattended`, `*` has the same meaning; in `approve`, it stands for every method', () => {
  const models = { 'crm.lead': ['*', 'x_sync'] };
  const policy = compile({ models, unattended: { 'crm.lead': ['*'] }, approve: { 'crm.lead': ['*'] } });
  expect(mayCallUnattended(policy, 'crm.lead', 'action_set_won')).toBe(true);
  expect(mayCallUnattended(policy, 'crm.lead', 'x_sync')).toBe(false);
  const request = {
    model: 'crm.lead',
    method: 'x_sync',
    isReadOnly: false,
    listEquivalents: () => [],
    findRelatedWrites: () => NO_RELATED_WRITES,
  };
  expect(decideApproval(policy, request)).toBe('approve["crm.lead"]');
});

test('tools for agents are offered for what `*` stands for', () => {
  expect(mayCall(compile({}), 'crm.lead', 'x_sync')).toBe(false);
  expect(mayCall(compile({}), 'crm.lead', 'search_read')).toBe(true);
  expect(mayCallAnywhere(compile({}), 'search_read')).toBe(true);
});

test('`allow_unknown_methods` without `*` is refused, and so it is in a policy for web pages', () => {
  const policy = { instances: ['prod'], models: { 'crm.lead': ['read'] }, allow_unknown_methods: true };
  expect(parsePolicy(policy)).toMatchObject({ errors: [{ path: 'allow_unknown_methods' }] });
  const page = {
    ...policy,
    models: { 'crm.lead': ['*'] },
    fields: { 'crm.lead': { allow: ['name'] } },
    publishable: true,
    read_only: true,
    cors_origins: ['https://shop.example.com'],
  };
  expect(parsePolicy(page)).toMatchObject({ errors: [{ path: 'allow_unknown_methods' }] });
  expect(parsePolicy({ ...page, allow_unknown_methods: undefined })).toHaveProperty('policy');
});

test('says what `*` stands for on a model, and why it leaves out others', () => {
  const meaning = describeStar(compile({}), 'crm.lead');
  expect(meaning?.methods).toEqual(expect.arrayContaining(['action_set_won', 'write', 'message_post']));
  expect(meaning?.left_out).toContainEqual({
    method: 'find_or_create_record',
    reason: 'reaches records of any model',
  });
  expect(describeStar(compile({ read_only: true }), 'crm.lead')?.methods).not.toContain('write');
  for (const policy of [
    null,
    compile({ allow_unknown_methods: true }),
    compile({ models: { '*': ['read'] } }),
  ])
    expect(describeStar(policy, 'crm.lead')).toBeNull();
});

/** Models and methods of the tables, and names that no table has. */
const calls = fc
  .constantFrom(...listModels(), 'x_fleet.contract')
  .chain((model) =>
    fc.tuple(
      fc.constant(model),
      fc.oneof(
        fc.constantFrom(...listMethods(model).keys()),
        fc.stringMatching(/^(x_|action_|get_)[a-z_]{1,12}$/),
        fc.constantFrom('find_or_create_record', 'get_activity_data', 'toString', 'constructor'),
      ),
    ),
  );

test('`*` allows no method that is sensitive, left out or not in the tables, whatever else the policy has', () => {
  fc.assert(
    fc.property(
      calls,
      fc.subarray(['read', 'search*', 'write'], { minLength: 0 }),
      fc.boolean(),
      ([model, method], others, ofAll) => {
        const models = { [ofAll ? '*' : model]: ['*', ...others] };
        const mayBeAllowed = findSensitivity(model, method) === null && findUnknown(model, method) === null;
        const isNamed = others.some(
          (other) => other === method || (other === 'search*' && /^search/.test(method)),
        );
        const isLiteral = !ofAll && others.some((other) => other === method);
        const isEnough = isLiteral || findSensitivity(model, method) === null;
        const decision = check({ models }, model, method);
        expect(decision.allowed).toBe(mayBeAllowed || (isNamed && isEnough));
        expect(mayCall(compile({ models }), model, method)).toBe(decision.allowed);
        const shown = describeStar(compile({ models }), model)?.methods ?? [];
        if (shown.includes(method)) expect(decision.allowed).toBe(true);
      },
    ),
    { numRuns: countCases(3000) },
  );
});

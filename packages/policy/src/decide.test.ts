/** Tests decisions and the rules that they name. The tests of the authorize step start from the bytes of a call. */
import { compileGlob, type Policy } from '@erp-proxy/contract';
import { NO_FIELD_USES } from '@erp-proxy/odoo/fields';
import { NO_RELATED_WRITES } from '@erp-proxy/odoo/related';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { compilePolicy } from './compile.ts';
import {
  type Caller,
  type Decision,
  decide,
  decideCaller,
  decideServer,
  type NamedContext,
  type PolicyRequest,
} from './decide.ts';
import { parsePolicy } from './parse.ts';

const POLICY: Policy = {
  instances: ['prod', 'shop-*'],
  origins: ['https://erp.example.com'],
  models: { 'res.partner': ['read', 'search*'], 'sale.*': ['*'] },
};

const REQUEST: PolicyRequest = {
  server: { instance: 'prod' },
  model: 'res.partner',
  method: 'read',
  isReadOnly: true,
  sensitivity: null,
  findRelatedRead: () => null,
  listReadEffects: () => [],
  findRelatedWrites: () => NO_RELATED_WRITES,
  listEquivalents: () => [],
  listFieldUses: () => NO_FIELD_USES,
  countRecords: () => null,
  readContext: () => named(null),
};

/** A context that names these companies, and nothing else. */
function named(allowed: number[] | null, others: number[] = []): NamedContext {
  return {
    allowed,
    others,
    names: [],
    leftOut: allowed === null ? ['allowed_company_ids', 'lang', 'tz'] : ['lang', 'tz'],
  };
}

/** Creates a user through a partner. */
const MAKES_USER: Partial<PolicyRequest> = {
  method: 'write',
  isReadOnly: false,
  findRelatedWrites: (allows) => ({
    found: allows('res.users', 'create')
      ? null
      : { member: 'user_ids', model: 'res.users', method: 'create' },
    others: [],
    lacking: new Map(),
  }),
};

function check(policy: Partial<Policy>, request: Partial<PolicyRequest>): Decision {
  const parsed = parsePolicy({ ...POLICY, ...policy });
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
  return decide(compilePolicy(parsed.policy), { ...REQUEST, ...request });
}

/** The rule that denies; null if the call is allowed. */
function findRule(policy: Partial<Policy>, request: Partial<PolicyRequest>): string | null {
  const decision = check(policy, request);
  return decision.allowed ? null : decision.rule;
}

test('allows what a server rule and a model rule name, and returns the model rule', () => {
  expect(check({}, {})).toEqual({ allowed: true, rule: 'models["res.partner"]', sets: {} });
  expect(check({}, { model: 'sale.order', method: 'action_confirm' })).toMatchObject({
    rule: 'models["sale.*"]',
  });
});

describe('denies by', () => {
  test.each<[string, Partial<Policy>, Partial<PolicyRequest>]>([
    ['instances', {}, { server: { instance: 'test' } }],
    ['instances', {}, { server: { instance: 'PROD' } }],
    ['origins', {}, { server: { origin: 'https://other.example.com', db: 'prod' } }],
    ['origins', {}, { server: { origin: 'https://erp.example.com:8443', db: 'prod' } }],
    ['origins', {}, { server: { origin: 'http://erp.example.com', db: 'prod' } }],
    ['dbs', { dbs: ['prod'] }, { server: { origin: 'https://erp.example.com', db: 'test' } }],
    ['models', {}, { model: 'res.users' }],
    ['models', {}, { model: 'RES.PARTNER' }],
    ['models', {}, { model: 'sale' }],
    ['models["res.partner"]', {}, { method: 'write' }],
    ['models["res.partner"]', {}, { method: 'READ' }],
    ['sensitive_methods', {}, { model: 'sale.order', method: 'load', sensitivity: 'is so' }],
    [
      'sensitive_methods',
      { models: { 'sale.*': ['load'] } },
      { model: 'sale.order', method: 'load', sensitivity: 'is so' },
    ],
    [
      'sensitive_methods',
      { models: { 'sale.order': ['lo*'] } },
      { model: 'sale.order', method: 'load', sensitivity: 'is so' },
    ],
    ['models', { models: { '*': ['*'] } }, { findRelatedRead: () => 'fields' }],
    ['sensitive_methods', { models: { '*': ['*'] } }, { ...MAKES_USER }],
    ['sensitive_methods', { models: { '*': ['*'], 'res.users': ['*'] } }, { ...MAKES_USER }],
    ['sensitive_methods', { models: { '*': ['*'], 'res.*': ['create'] } }, { ...MAKES_USER }],
    ['sensitive_methods', { models: { '*': ['*'], 'res.users': ['write'] } }, { ...MAKES_USER }],
    [
      'sensitive_methods',
      { models: { '*': ['*'], 'res.users': ['create'] } },
      { ...MAKES_USER, findRelatedWrites: () => ({ ...NO_RELATED_WRITES, found: 'undetermined' }) },
    ],
    ['read_only', { read_only: true }, { model: 'sale.order', method: 'action_confirm', isReadOnly: false }],
    ['read_only', { read_only: true }, { readContext: () => ({ ...named(null), names: ['signup_valid'] }) }],
    [
      'read_only',
      { read_only: true },
      { readContext: () => ({ ...named(null), names: ['tz', 'x_custom'] }) },
    ],
    ['read_only', { read_only: true }, { readContext: () => ({ ...named(null), names: null }) }],
    ['companies', { companies: [1] }, { readContext: () => named([1, 2]) }],
    ['companies', { companies: [1] }, { readContext: () => named([Number.NaN]) }],
    ['companies', { companies: [1] }, { readContext: () => named(null, [2]) }],
    ['limit_max', { limit_max: 5 }, { countRecords: () => ({ asked: 6, canLower: false }) }],
    ['limit_max', { limit_max: 5 }, { countRecords: () => ({ asked: null, canLower: false }) }],
    ['limit_max', { limit_max: 5 }, { countRecords: () => ({ asked: Number.NaN, canLower: true }) }],
  ])('%s: %j %j', (rule, policy, request) => {
    expect(findRule(policy, request)).toBe(rule);
  });
});

test('a denial by limit_max says what bounds the call', () => {
  const read = (more: { advice?: string }) =>
    check({ limit_max: 5 }, { countRecords: () => ({ asked: null, canLower: false, ...more }) });
  expect(read({})).toHaveProperty('message', expect.stringMatching(/can give more: ask for fewer\.$/));
  expect(read({ advice: 'send `lazy: false`' })).toHaveProperty(
    'message',
    expect.stringMatching(/can give more: send `lazy: false`\.$/),
  );
});

describe('allows', () => {
  test.each<[string, Partial<Policy>, Partial<PolicyRequest>]>([
    ['an instance by pattern', {}, { server: { instance: 'shop-1' } }],
    ['an origin, in any database', {}, { server: { origin: 'https://erp.example.com', db: 'any' } }],
    [
      'an origin with its default port',
      { origins: ['https://ERP.example.com:443'] },
      { server: { origin: 'https://erp.example.com', db: 'any' } },
    ],
    [
      'an origin by pattern',
      { origins: ['https://*.example.com:8069'] },
      { server: { origin: 'https://a.b.example.com:8069', db: 'any' } },
    ],
    [
      'a method that one of several patterns of a model allows',
      { models: { 'res.*': ['write'], 'res.partner': ['read'] } },
      {},
    ],
    [
      'a sensitive method that is named',
      { models: { 'sale.order': ['load'], '*': ['*'] } },
      { model: 'sale.order', method: 'load', sensitivity: 'is so' },
    ],
    [
      'fields of any model if the method is named for all',
      { models: { '*': ['read'] } },
      { findRelatedRead: () => 'fields' },
    ],
    [
      'a write to a sensitive model through another record if its method is named',
      { models: { '*': ['*'], 'res.users': ['create'] } },
      { ...MAKES_USER },
    ],
    [
      'a read, whose values are not checked',
      { models: { '*': ['*'] } },
      { ...MAKES_USER, method: 'read', isReadOnly: true },
    ],
    [
      'a context of a read',
      { read_only: true },
      {
        readContext: () => ({
          ...named(null),
          names: [
            'lang',
            'tz',
            'active_test',
            'default_name',
            'search_default_x',
            'bin_size_image',
            'pricelist',
          ],
        }),
      },
    ],
    ['any context, if the key may write', {}, { readContext: () => ({ ...named(null), names: null }) }],
    ['companies that are named', { companies: [1, 2] }, { readContext: () => named([2], [1]) }],
  ])('%s', (_, policy, request) => {
    expect(findRule(policy, request)).toBeNull();
  });
});

test('sets only a missing company list and a limit that is missing or too high', () => {
  const policy = { companies: [3, 1], limit_max: 5 };
  const ask = (asked: number | null, allowed: number[] | null): Partial<PolicyRequest> => ({
    countRecords: () => ({ asked, canLower: true }),
    readContext: () => named(allowed),
  });
  const findSets = (request: Partial<PolicyRequest>) => {
    const decision = check(policy, request);
    return decision.allowed && decision.sets;
  };
  expect(findSets(ask(null, null))).toEqual({ limit: 5, allowed_company_ids: [3, 1] });
  expect(findSets(ask(6, [1]))).toEqual({ limit: 5 });
  expect(findSets(ask(5, [1]))).toEqual({});
  expect(findSets({ readContext: () => named([1]) })).toEqual({});
});

test('denies a read that writes because of its context, unless the policy allows the method', () => {
  const request = {
    ...REQUEST,
    listReadEffects: () => [{ member: 'signup_valid', model: 'res.partner', method: 'signup_prepare' }],
  };
  const decideFor = (models: Policy['models']) => check({ models }, request);
  expect(decideFor({ 'res.partner': ['read'] })).toMatchObject({ allowed: false });
  expect(decideFor({ '*': ['*'] })).toMatchObject({ allowed: false, rule: 'sensitive_methods' });
  expect(decideFor({ 'res.partner': ['read', 'signup_prepare'] })).toMatchObject({ allowed: true });
});

test('scans the arguments last, and only if the policy depends on them', () => {
  const asked: string[] = [];
  const request: Partial<PolicyRequest> = {
    findRelatedRead: () => {
      asked.push('related');
      return null;
    },
    findRelatedWrites: () => {
      asked.push('related writes');
      return NO_RELATED_WRITES;
    },
    countRecords: (max) => {
      asked.push(`records to ${max}`);
      return null;
    },
    readContext: () => {
      asked.push('companies');
      return named([1]);
    },
  };
  const full = { companies: [1], limit_max: 5 };
  check(full, { ...request, server: { instance: 'test' } });
  check(full, { ...request, model: 'res.users' });
  check(full, { ...request, method: 'write' });
  check(full, { ...request, model: 'sale.order', sensitivity: 'is so' });
  check({ ...full, read_only: true }, { ...request, model: 'sale.order', isReadOnly: false });
  check({ models: { '*': ['read'] } }, request);
  expect(asked).toEqual([]);
  check(full, request);
  expect(asked).toEqual(['related', 'companies', 'records to 5']);
});

describe('a caller', () => {
  const checkCaller = (policy: Partial<Policy>, caller: Partial<Caller>) =>
    decideCaller(compilePolicy({ ...POLICY, ...policy }), { address: null, browserOrigin: null, ...caller });

  test.each<[string, Partial<Policy>, Partial<Caller>]>([
    ['cidrs', { cidrs: ['10.0.0.0/8'] }, { address: '11.0.0.1' }],
    ['cidrs', { cidrs: ['10.0.0.0/8'] }, { address: '::10.0.0.1' }],
    ['cidrs', { cidrs: ['10.0.0.0/8'] }, { address: 'nowhere' }],
    ['cidrs', { cidrs: ['::/0'] }, { address: '::ffff:10.0.0.1' }],
    ['cors_origins', {}, { browserOrigin: 'https://shop.example.com' }],
    ['cors_origins', { cors_origins: ['https://shop.example.com'] }, { browserOrigin: 'null' }],
    ['cors_origins', { cors_origins: ['https://*.example.com'] }, { browserOrigin: 'https://example.com' }],
    [
      'cors_origins',
      { cors_origins: ['https://shop.*'] },
      { browserOrigin: 'https://a.com, https://shop.com' },
    ],
  ])('is denied by %s: %j %j', (rule, policy, caller) => {
    expect(checkCaller(policy, caller)).toMatchObject({ allowed: false, rule });
  });

  test.each<[string, Partial<Policy>, Partial<Caller>]>([
    ['any, without such a rule', {}, { address: '10.1.2.3' }],
    ['an IPv4-mapped IPv6 address', { cidrs: ['10.0.0.0/8'] }, { address: '::ffff:10.1.2.3' }],
    ['a network in IPv4-mapped form', { cidrs: ['::ffff:10.0.0.0/104'] }, { address: '10.1.2.3' }],
    ['an address that is not checked', { cidrs: ['10.0.0.0/8'] }, { address: null }],
    [
      'a browser origin',
      { cors_origins: ['https://*.example.com'] },
      { browserOrigin: 'https://a.example.com' },
    ],
    ['any browser origin', { cors_origins: ['*'] }, { browserOrigin: 'null' }],
  ])('may call: %s', (_, policy, caller) => {
    expect(checkCaller(policy, caller)).toBeNull();
  });
});

test('a request about a server is decided by the server alone', () => {
  const compiled = compilePolicy({ ...POLICY, dbs: ['prod'], cidrs: ['10.0.0.0/8'] });
  const ask = (origin: string) => decideServer(compiled, { origin, db: null });
  expect(ask('https://erp.example.com')).toMatchObject({ allowed: true });
  expect(ask('https://other.example.com')).toMatchObject({ rule: 'origins' });
});

test('a denial reveals nothing else of the policy', () => {
  const policy = {
    models: { 'res.partner': ['read'], 'hr.secret': ['read'] },
    companies: [77],
    cidrs: ['10.9.8.0/24'],
    dbs: ['hidden'],
  };
  const requests: Partial<PolicyRequest>[] = [
    { server: { instance: 'test' } },
    { server: { origin: 'https://other.example.com', db: 'a' } },
    { server: { origin: 'https://erp.example.com', db: 'a' } },
    { model: 'a.b' },
    { method: 'write' },
    { readContext: () => named([1]) },
  ];
  const caller = decideCaller(compilePolicy({ ...POLICY, ...policy }), {
    address: '11.0.0.1',
    browserOrigin: null,
  });
  for (const decision of [...requests.map((request) => check(policy, request)), caller]) {
    expect(decision?.allowed).toBe(false);
    expect(JSON.stringify(decision)).not.toMatch(/hr\.secret|77|10\.9\.8|hidden|shop-/);
  }
});

describe('a pattern', () => {
  test('matches the same texts as the equivalent regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (glob, value) => {
        const expression = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
        expect(compileGlob(glob)(value)).toBe(expression.test(value));
      }),
      {
        numRuns: countCases(2000),
        examples: [
          ['a*b*b', 'ab'],
          ['a*a', 'a'],
          ['*', ''],
        ],
      },
    );
  });

  test('takes time linear in the text, however many `*` it has', () => {
    const isMatch = compileGlob(`${'*a'.repeat(100)}*b`);
    // With backtracking this would never end; one pass is fast.
    expect(isMatch('a'.repeat(1_000_000))).toBe(false);
    expect(isMatch(`${'a'.repeat(1_000_000)}b`)).toBe(true);
  });
});

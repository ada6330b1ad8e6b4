import type { InstanceView, KeyView, Policy, SubscriptionView } from '@erp-proxy/contract';
import { SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';
import { readInput } from '@erp-proxy/control/instances';
import { isKeyName } from '@erp-proxy/control/keys/format';
import { parsePolicy } from '@erp-proxy/policy/parse';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../test/random-cases.ts';
import { readConfiguration } from './configuration.ts';
import { describeInstance, describeSubscription } from './members.ts';
import { makePlan } from './plan.ts';
import { describeConfiguration, renderConfiguration } from './render.ts';

/** Names, including texts that YAML could read as another type. */
const name = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '1e3',
    '- a',
    '#x',
    '*a',
    '&a',
    '~',
    '<<',
    'a: b',
    '"',
    "'",
    ' x',
    '\u00e9',
  ),
  fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).filter(isKeyName),
);
const pattern = fc.stringMatching(/^[a-z_]{1,8}(\.[a-z]{1,5})?\*?$/);
const patterns = fc.uniqueArray(pattern, { minLength: 1, maxLength: 4 });
const policy: fc.Arbitrary<Policy> = fc
  .record(
    {
      instances: patterns,
      models: fc.dictionary(pattern, patterns, { minKeys: 1, maxKeys: 4 }),
      companies: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 3 }),
      limit_max: fc.integer({ min: 1, max: 1000 }),
      rate: fc.record({
        requests: fc.integer({ min: 1, max: 99 }),
        seconds: fc.integer({ min: 1, max: 99 }),
      }),
      concurrency: fc.integer({ min: 1, max: 99 }),
      cidrs: fc.subarray(['10.0.0.0/8', '::1', '192.0.2.7'], { minLength: 1 }),
      cors_origins: fc.subarray(['https://*.example.com'], { minLength: 1 }),
    },
    { requiredKeys: ['instances', 'models'] },
  )
  .filter((value) => 'policy' in parsePolicy(value));
const key: fc.Arbitrary<KeyView> = fc.record({
  id: fc.stringMatching(/^[a-z0-9]{12}$/),
  client_id: fc.stringMatching(/^[a-z0-9]{12}$/),
  name,
  state: fc.constant('active' as const),
  policy: fc.option(policy),
  for: fc.constantFrom(null, 'corp/ada', 'corp/a:#b'),
  created_at: fc.constant('2026-01-01T00:00:00.000Z'),
  created_by: fc.constant(null),
  expires_at: fc.constant(null),
  last_used_at: fc.constant(null),
  revoked_at: fc.constant(null),
  replaces: fc.constant(null),
  version: fc.integer({ min: 1, max: 9 }),
});
/** The members that are not varied below have their defaults. */
const MEMBERS = readInput({ name: 'a', url: 'https://a', db: 'a', user_id: 1, api_key: 'a' });
const instance: fc.Arbitrary<InstanceView> = fc
  .record({
    name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
    url: fc.constantFrom('https://erp.example', 'http://10.0.0.1:8069/odoo/'),
    db: fc.constantFrom('prod', '007', 'null', '1e3'),
    user_id: fc.integer({ min: 1, max: 999 }),
    protocol: fc.constantFrom('auto', 'jsonrpc', 'json2'),
    timeout_ms: fc.option(fc.integer({ min: 1, max: 300_000 })),
    concurrency: fc.option(fc.integer({ min: 1, max: 1000 })),
    certificates: fc.constant(null),
    allow_private: fc.boolean(),
    key: fc.record({
      expires_at: fc.constant(null),
      state: fc.constant('unknown' as const),
      rotate: fc.boolean(),
      failure: fc.constant(null),
    }),
    created_at: fc.constant('2026-01-01T00:00:00.000Z'),
    updated_at: fc.constant('2026-01-01T00:00:00.000Z'),
    version: fc.integer({ min: 1, max: 9 }),
  })
  .map((members) => ({ ...MEMBERS, ...members }));

test('exported configuration changes nothing when it is applied', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { selector: (view) => view.name, maxLength: 5 }),
      fc.uniqueArray(instance, { selector: (view) => view.name, maxLength: 4 }),
      (keys, instances) => {
        const { configuration, omitted } = describeConfiguration(keys, instances);
        expect(omitted).toEqual([]);
        const read = readConfiguration(renderConfiguration(configuration), { requiresEnd: true });
        if ('errors' in read) throw new Error(JSON.stringify(read.errors));
        const present = {
          keys: Map.groupBy(keys, (view) => view.name),
          subscriptions: new Map(),
          instances: new Map(instances.map((view) => [view.name, view])),
        };
        const plan = makePlan(read.configuration, present, { createsKeys: false, updatesSecrets: false });
        if ('errors' in plan) throw new Error(JSON.stringify(plan.errors));
        expect(plan.steps.filter(({ kind }) => kind !== 'keep')).toEqual([]);
        expect(plan.steps).toHaveLength(keys.length + instances.length);
      },
    ),
    { numRuns: countCases(50) },
  );
});

test('keys of one name that agree are one entry; with different policies or persons they are omitted and reported', () => {
  const [one] = fc.sample(key, 1);
  if (one === undefined) throw new Error('no sample');
  const shop = { ...one, name: 'shop', policy: null, for: null };
  const adas = { ...shop, for: 'corp/ada' };
  const other: Policy = { instances: ['a'], models: { a: ['read'] } };
  expect(describeConfiguration([shop, shop], [])).toEqual({
    configuration: { keys: [{ name: 'shop', policy: null }], instances: [] },
    omitted: [],
  });
  expect(describeConfiguration([shop, { ...shop, policy: other }, { ...shop, name: 'app' }], [])).toEqual({
    configuration: { keys: [{ name: 'app', policy: null }], instances: [] },
    omitted: [expect.stringContaining('keys named "shop" have different policies')],
  });
  expect(describeConfiguration([adas, adas], []).configuration.keys).toEqual([
    { name: 'shop', policy: null, for: 'corp/ada' },
  ]);
  expect(describeConfiguration([shop, adas], [])).toEqual({
    configuration: { keys: [], instances: [] },
    omitted: [expect.stringContaining('keys named "shop" have different policies or persons')],
  });
});

test('members of a subscription and an instance keep their order, and those of another version are left out', () => {
  const subscription = {
    url: 'https://shop.example',
    note: 'of a newer proxy',
    toString: 'x',
    start: 'all',
    interval_seconds: 5,
    key: null,
    gone: true,
    payload: 'thin',
    fields: ['name'],
    domain: [['id', '>', 1]],
    model: 'res.partner',
    instance: 'prod',
    name: 'contacts',
  };
  const names = Object.keys(SUBSCRIPTION_MEMBERS).filter((member) => member !== 'events');
  expect(Object.keys(describeSubscription(subscription as unknown as SubscriptionView))).toEqual(names);
  const events = { ...subscription, events: ['key.ends'] };
  expect(Object.keys(describeSubscription(events as unknown as SubscriptionView))).toEqual([
    'events',
    'url',
    'interval_seconds',
    'start',
  ]);
  const instance = { note: 'x', db: 'prod', url: 'https://erp.example', key: { rotate: true }, version: 1 };
  expect(JSON.stringify(describeInstance(instance as unknown as InstanceView))).toBe(
    '{"url":"https://erp.example","db":"prod","rotate_key":true}',
  );
});

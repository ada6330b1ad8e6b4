import type { InstanceView, KeyView, Policy, SubscriptionView } from '@erp-proxy/contract';
import { readInput as readInstance } from '@erp-proxy/control/instances';
import { readInput as readSubscription } from '@erp-proxy/data/subscriptions/members';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from './configuration.ts';
import { makePlan, type PlanOptions, type Present } from './plan.ts';

const POLICY: Policy = { instances: ['prod'], models: { 'res.partner': ['read'] } };
const KEY: KeyView = {
  id: 'k1',
  client_id: 'k1',
  name: 'shop',
  state: 'active',
  policy: POLICY,
  for: null,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: null,
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  replaces: null,
  version: 3,
};
const INSTANCE: InstanceView = {
  ...readInstance({
    name: 'prod',
    url: 'https://erp.example',
    db: 'prod',
    user_id: 2,
    api_key: 'a',
    protocol: 'json2',
  }),
  key: { expires_at: null, state: 'unknown', rotate: false, failure: null },
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  version: 5,
};
const SOURCE = 'api_key: { env: KEY }';

function plan(
  text: string,
  {
    keys = [KEY],
    instances = [INSTANCE],
    subscriptions = [],
  }: { keys?: KeyView[]; instances?: InstanceView[]; subscriptions?: SubscriptionView[] } = {},
  options: Partial<PlanOptions> = {},
) {
  const read = readConfiguration(`${text}\n`);
  if ('errors' in read) throw new Error(JSON.stringify(read.errors));
  const present: Present = {
    keys: Map.groupBy(keys, ({ name }) => name),
    instances: new Map(instances.map((view) => [view.name, view])),
    subscriptions: new Map(subscriptions.map((view) => [view.name, view])),
  };
  return makePlan(read.configuration, present, { createsKeys: false, updatesSecrets: false, ...options });
}

function planSteps(...given: Parameters<typeof plan>) {
  const outcome = plan(...given);
  if ('errors' in outcome) throw new Error(JSON.stringify(outcome.errors));
  return outcome.steps;
}

function listPlanErrors(...given: Parameters<typeof plan>) {
  const outcome = plan(...given);
  return 'errors' in outcome ? outcome.errors.map(({ line, message }) => `${line}: ${message}`) : [];
}

describe('keys', () => {
  test('with another policy are changed: every active one of the name, at its present version', () => {
    const text =
      'keys: [{ name: shop, policy: { instances: [prod], models: { res.partner: [read], "sale.*": ["*"] } } }]';
    const [first, second] = planSteps(text, { keys: [KEY, { ...KEY, id: 'k2', version: 9 }] });
    expect(first).toMatchObject({
      kind: 'change',
      target: 'key shop (k1)',
      changes: { 'policy.models["sale.*"]': { from: undefined, to: ['*'] } },
      action: { do: 'update key', id: 'k1', version: 3 },
    });
    expect(second?.action).toMatchObject({ do: 'update key', id: 'k2', version: 9 });
  });

  test('with the same policy are kept, whatever the order of its members', () => {
    const text = 'keys: [{ name: shop, policy: { models: { res.partner: [read] }, instances: [prod] } }]';
    expect(planSteps(text)).toEqual([
      { kind: 'keep', target: 'key shop (k1)', changes: {}, action: { do: 'nothing' } },
    ]);
  });

  test('lose or get a policy', () => {
    expect(planSteps('keys: [{ name: shop, policy: null }]')[0]?.changes).toEqual({
      policy: { from: POLICY, to: null },
    });
  });

  test('that are missing are an error, or are created with the option', () => {
    const text = 'keys:\n  - { name: app, policy: null }';
    expect(listPlanErrors(text)).toEqual([
      expect.stringMatching(/^2: there is no active key "app".*--create-keys/),
    ]);
    expect(planSteps(text, {}, { createsKeys: true })).toEqual([
      {
        kind: 'add',
        target: 'key app',
        changes: { policy: { from: undefined, to: null } },
        action: { do: 'create key', name: 'app', members: { policy: null } },
      },
    ]);
  });
});

describe('instances', () => {
  test('that are missing are added, with a masked secret', () => {
    const text = `instances: [{ name: new, url: "https://n.example", db: n, user_id: 3, ${SOURCE} }]`;
    expect(planSteps(text)).toEqual([
      {
        kind: 'add',
        target: 'instance new',
        changes: {
          url: { from: undefined, to: 'https://n.example' },
          db: { from: undefined, to: 'n' },
          user_id: { from: undefined, to: 3 },
          api_key: { from: undefined, to: '(secret)' },
        },
        action: {
          do: 'create instance',
          name: 'new',
          members: { url: 'https://n.example', db: 'n', user_id: 3 },
          secret: { line: 1, source: { env: 'KEY' } },
        },
      },
    ]);
  });

  test('that are missing need all required members and a valid name', () => {
    const errors = listPlanErrors('instances:\n  - { name: new one, db: n }');
    for (const part of ['`name`', '`url`', '`user_id`', '`api_key` is needed']) {
      expect(errors).toContainEqual(expect.stringContaining(part));
    }
    expect(errors).toHaveLength(4);
    expect(errors.every((error) => error.startsWith('2: instance "new one": '))).toBe(true);
  });

  test('keep omitted members and their key', () => {
    const [step] = planSteps(`instances: [{ name: prod, db: other, protocol: json2, ${SOURCE} }]`);
    expect(step).toEqual({
      kind: 'change',
      target: 'instance prod',
      changes: { db: { from: 'prod', to: 'other' } },
      action: {
        do: 'update instance',
        name: 'prod',
        version: 5,
        created_at: '2026-01-01T00:00:00.000Z',
        members: { db: 'other' },
        secret: null,
      },
    });
    expect(planSteps(`instances: [{ name: prod, user_id: 2, ${SOURCE} }]`)[0]?.kind).toBe('keep');
  });

  test('get their key again with the option, together with its expiry', () => {
    const text = `instances: [{ name: prod, key_expires_at: "2027-01-01T00:00:00Z", ${SOURCE} }]`;
    expect(planSteps(text)[0]?.kind).toBe('keep');
    expect(planSteps(text, {}, { updatesSecrets: true })[0]).toMatchObject({
      kind: 'change',
      changes: { api_key: { from: '(secret)', to: '(secret)' } },
      action: { members: { key_expires_at: '2027-01-01T00:00:00Z' }, secret: { source: { env: 'KEY' } } },
    });
  });

  test.each(['url: "https://b.example"', 'certificates: null', 'allow_private: true'])(
    'whose stored key another server could get by %s need their key with it',
    (member) => {
      const instances = [{ ...INSTANCE, certificates: 'PEM' }];
      expect(listPlanErrors(`instances:\n  - { name: prod, ${member} }`, { instances })).toEqual([
        expect.stringMatching(
          /^2: instance "prod": the new `\w+` could let another server have the stored key/,
        ),
      ]);
      const [step] = planSteps(`instances: [{ name: prod, ${member}, ${SOURCE} }]`, { instances });
      expect(step?.action).toMatchObject({ do: 'update instance', secret: { line: 1 } });
    },
  );

  test('with another spelling of the same address need no key', () => {
    const [step] = planSteps(
      `instances: [{ name: prod, url: "https://ERP.example:443/", allow_private: false }]`,
    );
    expect(step?.action).toMatchObject({ do: 'update instance', secret: null });
  });
});

test('plans nothing for keys and instances that the file does not name', () => {
  expect(planSteps('keys: []')).toEqual([]);
});

test('reports all errors at once', () => {
  const text =
    'keys:\n  - { name: a, policy: null }\n  - { name: b, policy: null }\ninstances:\n  - { name: c }';
  const lines = listPlanErrors(text).map((error) => error.split(':')[0]);
  expect(new Set(lines)).toEqual(new Set(['2', '3', '5']));
});

test('does not take from a publishable key what makes it safe to publish', () => {
  const policy: Policy = {
    instances: ['prod'],
    models: { 'res.country': ['*'] },
    fields: { 'res.country': { allow: ['name'] } },
    read_only: true,
    cors_origins: ['https://shop.example.com'],
    publishable: true,
  };
  const keys = [{ ...KEY, policy }];
  for (const other of ['null', '{ instances: [prod], models: { res.country: [read] } }']) {
    const errors = listPlanErrors(`keys:\n  - name: shop\n    policy: ${other}`, { keys });
    expect(errors).toEqual([expect.stringMatching(/^2: key "shop" \(k1\): .*stays publishable/)]);
  }
  const wider = JSON.stringify({ ...policy, limit_max: 5 });
  expect(planSteps(`keys:\n  - name: shop\n    policy: ${wider}`, { keys })).toMatchObject([
    { kind: 'change' },
  ]);
});

describe('subscriptions', () => {
  const SUBSCRIPTION = {
    ...readSubscription({
      name: 'contacts',
      instance: 'prod',
      model: 'res.partner',
      fields: ['name'],
      url: 'https://shop.example/hook',
    }),
    state: 'active',
    reason: null,
    read_at: null,
    problem: null,
    receiver: { failures: 0, failing_since: null, retry_at: null, last_failure: null, delivered_at: null },
    secrets: [],
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: null,
    updated_at: '2026-01-01T00:00:00.000Z',
    version: 2,
  } as SubscriptionView;
  const given = 'instance: prod, model: res.partner, fields: [name], url: https://shop.example/hook';

  test('are added, changed in the members that differ, or kept', () => {
    const [added] = planSteps(`subscriptions: [{ name: contacts, ${given} }]`);
    expect(added).toMatchObject({
      kind: 'add',
      target: 'subscription contacts',
      action: { do: 'create subscription' },
    });
    const present = { subscriptions: [SUBSCRIPTION] };
    expect(planSteps(`subscriptions: [{ name: contacts, ${given} }]`, present)).toMatchObject([
      { kind: 'keep' },
    ]);
    const [changed] = planSteps(
      `subscriptions: [{ name: contacts, domain: [[a, "=", 1]], gone: true }]`,
      present,
    );
    expect(changed).toMatchObject({
      kind: 'change',
      action: { do: 'update subscription', version: 2, members: { domain: [['a', '=', 1]], gone: true } },
    });
  });

  test('to events are added, changed or kept too', () => {
    const url = 'https://shop.example/hook';
    const text = `subscriptions: [{ name: ends, events: [key.ends], url: ${url} }]`;
    const [added] = planSteps(text);
    expect(added).toMatchObject({
      kind: 'add',
      action: { do: 'create subscription', input: { name: 'ends', events: ['key.ends'], url } },
    });
    const { state, reason, interval_seconds, start, read_at, problem, receiver, ...rest } = SUBSCRIPTION;
    const { secrets, created_at, created_by, updated_at, version } = rest;
    const view: SubscriptionView = {
      ...{ name: 'ends', events: ['key.ends'], url, state, reason, interval_seconds, start },
      ...{ read_at, problem, receiver, secrets, created_at, created_by, updated_at, version },
    };
    expect(planSteps(text, { subscriptions: [view] })).toMatchObject([{ kind: 'keep' }]);
    const longer = text.replace(' }]', ', interval_seconds: 90 }]');
    expect(planSteps(longer, { subscriptions: [view] })).toMatchObject([
      { kind: 'change', action: { members: { interval_seconds: 90 } } },
    ]);
  });

  test('that lack a member are refused with the line', () => {
    expect(listPlanErrors('subscriptions:\n  - name: contacts\n    instance: prod')).toEqual([
      '2: subscription "contacts": `model` must be the name of a model, e.g. "res.partner"',
      '2: subscription "contacts": `fields` must be a list of 1 to 200 names of fields',
      '2: subscription "contacts": `url` must be the address of the receiver, of at most 2048 characters',
    ]);
  });
});

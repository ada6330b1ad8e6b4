import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { InstanceInput, InvalidMember } from '@erp-proxy/contract';
import type { Store } from '@erp-proxy/stores/ports';
import { makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { InputError } from './input.ts';
import { findVersion } from './instance-version.fixture.ts';
import { createInstances, type DescribeReseal, type Instances, type InstancesOptions } from './instances.ts';
import { trustOf } from './trust.ts';
import { createVault, type Vault, VaultError } from './vault.ts';

const API_KEY = 'the-api-key-of-prod-0123456789';
const PENDING_KEY = 'the-pending-key-of-prod-012345';
const PROD: InstanceInput = {
  name: 'prod',
  url: 'https://erp.example.com/odoo/',
  db: 'prod',
  user_id: 7,
  api_key: API_KEY,
};

const describeReseal: DescribeReseal = (instance, masterKeys) =>
  makeBatch({ at: 1, record: JSON.stringify({ instance, masterKeys }) });

const open: Instances[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const makeKey = () => randomBytes(32).toString('base64');
const makeVault = (masterKey = makeKey(), otherMasterKeys: string[] = []) =>
  createVault({ masterKey, otherMasterKeys });

interface World {
  store: Store;
  vault: Vault | null;
  now: number;
  errors: unknown[];
}

function makeWorld(): World {
  return { store: openMemoryStore(), vault: makeVault(), now: 1_000, errors: [] };
}

async function start(world: World, more: Partial<InstancesOptions> = {}): Promise<Instances> {
  const { store, vault, errors } = world;
  const instances = await createInstances({
    store,
    vault,
    clock: () => world.now,
    onError: (error) => errors.push(error),
    ...more,
  });
  open.push(instances);
  return instances;
}

async function startWithProd(more: Partial<InstanceInput> = {}): Promise<World & { instances: Instances }> {
  const world = makeWorld();
  const instances = await start(world);
  await instances.add({ ...PROD, ...more });
  return Object.assign(world, { instances });
}

/** The invalid members that the error of the rejection names. */
async function findInvalid(change: Promise<unknown>): Promise<InvalidMember[]> {
  const error = await change.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof InputError) return error.invalidMembers;
  throw new Error(`expected an InputError, not ${String(error)}`);
}

/** Changes a stored body, as anyone with write access to the store could. */
async function tamper(store: Store, name: string, change: (body: string) => string): Promise<void> {
  const row = await store.instances.findByName(name);
  if (row === null) throw new Error(`no ${name}`);
  await store.instances.replace(row.id, row.version, { ...row, body: change(row.body) });
}

describe('adding', () => {
  test('fills in omitted members; calls find the instance with its key', async () => {
    const { instances } = await startWithProd();
    const { id, ...record } = (await instances.get('prod')) ?? { id: '' };
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(record).toMatchObject({
      name: 'prod',
      url: 'https://erp.example.com/odoo/',
      db: 'prod',
      userId: 7,
      protocol: 'auto',
      timeoutMs: null,
      concurrency: null,
      certificates: null,
      allowPrivate: false,
      rotateKey: false,
      key: { expiresAt: null, isExpiryKnown: false, failure: null, pendingStep: null },
      createdAt: 1_000,
      updatedAt: 1_000,
      version: 1,
    });
    expect(record).not.toHaveProperty('api_key');
    const instance = await instances.find('prod');
    expect(instance).toMatchObject({ id, name: 'prod', url: PROD.url, db: 'prod', userId: 7, trust: null });
    expect(instance?.apiKey).toBe(API_KEY);
  });

  test('a stored instance that lacks a newer member has its default', async () => {
    const { store, instances } = await startWithProd({ concurrency: 4 });
    await tamper(store, 'prod', (body) => {
      const { concurrency: _, rotate_key: __, ...older } = JSON.parse(body);
      return JSON.stringify(older);
    });
    expect(await instances.get('prod')).toMatchObject({ db: 'prod', concurrency: null, rotateKey: false });
    expect(await instances.find('prod')).toMatchObject({ apiKey: API_KEY, concurrency: null });
  });

  test('without tags can be read by the earlier release, which does not know them', async () => {
    const { store, instances } = await startWithProd();
    expect((await store.instances.findByName('prod'))?.body).not.toContain('tags');
    const first = await findVersion(instances, 'prod', 1);
    expect(await instances.update(first, { tags: ['live'] })).toBe('done');
    expect(await instances.find('prod')).toMatchObject({ tags: ['live'], apiKey: API_KEY });
    const second = await findVersion(instances, 'prod', 2);
    expect(await instances.update(second, { tags: [] })).toBe('done');
    expect((await store.instances.findByName('prod'))?.body).not.toContain('tags');
  });

  test('keeps every member', async () => {
    const { instances } = await startWithProd({
      protocol: 'json2',
      timeout_ms: 60_000,
      concurrency: 4,
      certificates: TEST_CERTIFICATE,
      allow_private: true,
      rotate_key: true,
      tags: ['live', 'eu.west-1'],
      key_expires_at: '2027-01-31T01:00:00+01:00',
    });
    expect(await instances.get('prod')).toMatchObject({
      tags: ['live', 'eu.west-1'],
      protocol: 'json2',
      timeoutMs: 60_000,
      concurrency: 4,
      certificates: TEST_CERTIFICATE,
      allowPrivate: true,
      rotateKey: true,
      key: { expiresAt: Date.parse('2027-01-31T00:00:00Z'), isExpiryKnown: true },
    });
    expect(await instances.find('prod')).toMatchObject({
      protocol: 'json2',
      timeoutMs: 60_000,
      concurrency: 4,
      trust: { certificates: TEST_CERTIFICATE, isAllowed: true },
    });
  });

  test('returns null if the name is taken, and does not change the other instance', async () => {
    const { instances } = await startWithProd();
    expect(await instances.add({ ...PROD, url: 'https://evil.example' })).toBeNull();
    expect((await instances.find('prod'))?.url).toBe(PROD.url);
  });

  test('uses a new id for a name that is used again', async () => {
    const { instances } = await startWithProd();
    const before = await instances.find('prod');
    expect(await instances.remove(await findVersion(instances, 'prod', 1))).toBe('done');
    await instances.add(PROD);
    expect((await instances.find('prod'))?.id).not.toBe(before?.id);
  });

  test('without a master key fails with instructions, and stores nothing', async () => {
    const world = makeWorld();
    const instances = await start(world, { vault: null });
    await expect(instances.add(PROD)).rejects.toThrow(VaultError);
    await expect(instances.add(PROD)).rejects.toThrow(/openssl rand -base64 32.*vault\.masterKey/);
    expect(await world.store.instances.findByName('prod')).toBeNull();
  });
});

describe('input', () => {
  test.each([
    ['name', ''],
    ['name', '-prod'],
    ['name', 'prod one'],
    ['name', 'a'.repeat(65)],
    ['name', undefined],
    ['url', 'erp.example.com'],
    ['url', 'https://user:secret-one@erp.example.com'],
    ['url', `https://erp.example.com/${'a'.repeat(2048)}`],
    ['url', 7],
    ['db', 'postgres://host/db'],
    ['db', ''],
    ['tags', null],
    ['tags', 'live'],
    ['tags', ['live', 'live']],
    ['tags', Array.from({ length: 21 }, (_, index) => `t${index}`)],
    ['user_id', 0],
    ['user_id', 1.5],
    ['user_id', '7'],
    ['user_id', 2 ** 31],
    ['api_key', ''],
    ['api_key', 'with space'],
    ['api_key', 'line\nbreak'],
    ['api_key', 'a'.repeat(257)],
    ['api_key', undefined],
    ['protocol', 'xmlrpc'],
    ['timeout_ms', 0],
    ['timeout_ms', 300_001],
    ['concurrency', 1001],
    ['concurrency', true],
    ['certificates', ''],
    ['certificates', TEST_KEY],
    ['certificates', `${TEST_CERTIFICATE}\n`.repeat(200)],
    ['allow_private', 'yes'],
    ['rotate_key', 1],
    ['key_expires_at', '2027-01-31'],
    ['key_expires_at', '2027-02-30T00:00:00Z'],
    ['key_expires_at', 1_700_000_000],
    ['key_expires_at', '9999-12-31T23:59:59-01:00'],
    ['key_expires_at', '0000-01-01T00:00:00+01:00'],
    ['unknown', 1],
  ])('is refused with a rule for %s: %j', async (member, value) => {
    const instances = await start(makeWorld());
    const invalid = await findInvalid(instances.add({ ...PROD, [member]: value }));
    expect(invalid).toEqual([{ path: member, message: expect.stringMatching(/^(must|is|has) /) }]);
    expect(await instances.get('prod')).toBeNull();
  });

  test.each(['a b', 'x'.repeat(33), '-live', ''])('is refused with a rule for the tag %j', async (tag) => {
    const instances = await start(makeWorld());
    const invalid = await findInvalid(instances.add({ ...PROD, tags: ['live', tag] }));
    expect(invalid).toEqual([{ path: 'tags.1', message: expect.stringMatching(/^must be 1 to 32/) }]);
  });

  test('all errors are reported at once', async () => {
    const instances = await start(makeWorld());
    const invalid = await findInvalid(
      instances.add({ ...PROD, db: '', user_id: 0, ...{ keyword: 1, timeout: '1' } }),
    );
    expect(invalid.map(({ path }) => path).sort()).toEqual(['db', 'keyword', 'timeout', 'user_id']);
  });

  test.each([null, [], 'prod', 7])('other than an object is refused: %j', async (input) => {
    const instances = await start(makeWorld());
    // Input from a file or a request can have any shape.
    const invalid = await findInvalid(instances.add(input as never));
    expect(invalid).toEqual([{ path: '', message: expect.stringContaining('must be an object') }]);
  });

  test('errors do not repeat values', async () => {
    const instances = await start(makeWorld());
    const add = instances.add({ ...PROD, api_key: 'one two three', url: 'https://u:pass-word@erp.example' });
    const error = await add.catch((reason: unknown) => reason);
    expect(inspect(error, { depth: null })).not.toMatch(/two|pass-word/);
  });

  test('changes accept every member but the name, and undefined counts as omitted', async () => {
    const { instances } = await startWithProd();
    const changes = { ...{ name: 'other' }, timeout_ms: 0, db: undefined };
    expect(
      (await findInvalid(instances.update(await findVersion(instances, 'prod', 1), changes as never))).map(
        ({ path }) => path,
      ),
    ).toEqual(['timeout_ms', 'name']);
    expect(
      await instances.update(await findVersion(instances, 'prod', 1), {
        timeout_ms: 5,
        ...{ db: undefined },
      } as never),
    ).toBe('done');
    expect(await instances.get('prod')).toMatchObject({ db: 'prod', timeoutMs: 5 });
  });
});

describe('changing', () => {
  test('keeps omitted members, including key and id', async () => {
    const world = await startWithProd({ concurrency: 4 });
    const before = await world.instances.find('prod');
    world.now = 2_000;
    expect(
      await world.instances.update(await findVersion(world.instances, 'prod', 1), {
        db: 'prod2',
        timeout_ms: 5_000,
      }),
    ).toBe('done');
    expect(await world.instances.get('prod')).toMatchObject({
      id: before?.id,
      db: 'prod2',
      concurrency: 4,
      timeoutMs: 5_000,
      createdAt: 1_000,
      updatedAt: 2_000,
      version: 2,
    });
    const after = await world.instances.find('prod');
    expect(after).toMatchObject({ db: 'prod2', timeoutMs: 5_000 });
    expect(after?.apiKey).toBe(API_KEY);
  });

  test('another version is a conflict, and an unknown name is missing', async () => {
    const { instances } = await startWithProd();
    expect(await instances.update(await findVersion(instances, 'prod', 2), { db: 'x' })).toBe('conflict');
    expect(await instances.changeKey(await findVersion(instances, 'prod', 2), { failure: 'x' })).toBe(
      'conflict',
    );
    expect(await instances.remove(await findVersion(instances, 'prod', 2))).toBe('conflict');
    expect(await instances.update(await findVersion(instances, 'test', 1), { db: 'x' })).toBe('missing');
    expect(await instances.changeKey(await findVersion(instances, 'test', 1), {})).toBe('missing');
    expect(await instances.remove(await findVersion(instances, 'test', 1))).toBe('missing');
    expect(await instances.openKey('test')).toBeNull();
    expect(await instances.get('prod')).toMatchObject({ db: 'prod', version: 1 });
  });

  test('an instance that was added again under the same name is another one', async () => {
    const { instances } = await startWithProd();
    const removed = await findVersion(instances, 'prod', 1);
    await instances.remove(removed);
    await instances.add({ ...PROD, db: 'again' });
    expect(await instances.update(removed, { db: 'x' })).toBe('conflict');
    expect(await instances.changeKey(removed, { failure: 'x' })).toBe('conflict');
    expect(await instances.remove(removed)).toBe('conflict');
    expect(await instances.get('prod')).toMatchObject({ db: 'again', key: { failure: null }, version: 1 });
  });

  test('of two concurrent changes one succeeds', async () => {
    const { instances } = await startWithProd();
    const from = await findVersion(instances, 'prod', 1);
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((db) => instances.update(from, { db, api_key: `key-${db}` })),
    );
    expect(outcomes.toSorted()).toEqual(['conflict', 'conflict', 'done']);
    const winner = ['a', 'b', 'c'][outcomes.indexOf('done')];
    const instance = await instances.find('prod');
    expect([instance?.db, instance?.apiKey]).toEqual([winner, `key-${winner}`]);
  });

  test.each([
    'https://evil.example/odoo',
    'http://erp.example.com/odoo',
    'https://erp.example.com:8443/odoo',
    'https://erp.example.com/other',
    'https://erp.example.com',
  ])('the url to %s needs the key again', async (url) => {
    const { instances } = await startWithProd();
    expect(await findInvalid(instances.update(await findVersion(instances, 'prod', 1), { url }))).toEqual([
      { path: 'url', message: expect.stringContaining('`api_key`') },
    ]);
    expect(await instances.find('prod')).toMatchObject({ url: PROD.url });
    expect(
      await instances.update(await findVersion(instances, 'prod', 1), { url, api_key: 'another-key' }),
    ).toBe('done');
    const instance = await instances.find('prod');
    expect([instance?.url, instance?.apiKey]).toEqual([url, 'another-key']);
  });

  test('another spelling of the same url does not require the key', async () => {
    const { instances } = await startWithProd();
    expect(
      await instances.update(await findVersion(instances, 'prod', 1), {
        url: 'https://ERP.example.com:443/odoo',
      }),
    ).toBe('done');
    expect((await instances.find('prod'))?.apiKey).toBe(API_KEY);
  });

  test('takes effect for calls of another process', async () => {
    const world = await startWithProd();
    const other = await start(world);
    expect((await other.find('prod'))?.apiKey).toBe(API_KEY);
    await world.instances.update(await findVersion(world.instances, 'prod', 1), { api_key: 'another-key' });
    expect((await other.find('prod'))?.apiKey).toBe('another-key');
    await world.instances.remove(await findVersion(world.instances, 'prod', 2));
    expect(await other.find('prod')).toBeNull();
  });
});

describe('finding', () => {
  test('reads the store once, and returns the same object until the instance changes', async () => {
    const { instances } = await startWithProd({ allow_private: true });
    const first = await instances.find('prod');
    expect(await instances.find('prod')).toBe(first);
    await instances.update(await findVersion(instances, 'prod', 1), { timeout_ms: 5 });
    const second = await instances.find('prod');
    expect(second).not.toBe(first);
    expect(second?.trust).toEqual(first?.trust);
  });

  test('reads the store once for an unknown name, and finds it after another replica stored it', async () => {
    const world = makeWorld();
    const [here, there] = [await start(world), await start(world)];
    const asked = vi.spyOn(world.store.instances, 'findByName');
    for (let times = 0; times < 100; times++) expect(await here.find('prod')).toBeNull();
    expect(asked).toHaveBeenCalledTimes(1);
    await there.add(PROD);
    expect((await here.find('prod'))?.apiKey).toBe(API_KEY);
  });

  test('returns known instances while the store is unavailable', async () => {
    const world = await startWithProd();
    await world.instances.find('prod');
    const away = () => {
      throw new Error('away');
    };
    Object.assign(world.store, { isWatching: false });
    Object.assign(world.store.instances, { findByName: away });
    expect((await world.instances.find('prod'))?.apiKey).toBe(API_KEY);
    await expect((async () => world.instances.find('unknown'))()).rejects.toThrow('away');
  });

  test.each(['', 'PROD', 'prod ', 'pro%', '__proto__', 'a'.repeat(300)])(
    'finds nothing by the name %j',
    async (name) => {
      const { instances } = await startWithProd();
      expect(await instances.find(name)).toBeNull();
      expect(await instances.get(name)).toBeNull();
    },
  );

  test('the id of a trust depends on all its members', () => {
    const trusts = [
      { certificates: TEST_CERTIFICATE, allowPrivate: false },
      { certificates: TEST_CERTIFICATE, allowPrivate: true },
      { certificates: `${TEST_CERTIFICATE}\n`, allowPrivate: true },
      { certificates: null, allowPrivate: true },
    ].map(trustOf);
    expect(new Set(trusts.map((trust) => trust?.id)).size).toBe(4);
    expect(trustOf({ certificates: null, allowPrivate: false })).toBeNull();
  });
});

describe('listing', () => {
  test('is sorted by name, in pages', async () => {
    const { instances } = await startWithProd();
    for (const name of ['zoo', 'b', 'a']) await instances.add({ ...PROD, name });
    const first = await instances.list({ after: null, limit: 3 });
    expect(first.map(({ name }) => name)).toEqual(['a', 'b', 'prod']);
    const rest = await instances.list({ after: 'prod', limit: 3 });
    expect(rest.map(({ name }) => name)).toEqual(['zoo']);
  });

  test('searches for a part of the name, the url or a tag, but not in other members', async () => {
    const { instances } = await startWithProd({ tags: ['Live'] });
    expect(await instances.list({ after: null, limit: 1, search: 'live' })).toHaveLength(1);
    for (let n = 10; n < 40; n++) {
      const url = n % 10 === 0 ? 'https://JSONRPC.example' : 'https://erp.example';
      await instances.add({ ...PROD, name: `n${n}`, protocol: 'jsonrpc', url });
    }
    const find = async (search: string, limit = 50) =>
      (await instances.list({ after: null, limit, search })).map(({ name }) => name);
    expect(await find('PROD')).toEqual(['prod']);
    expect(await find('jsonRPC')).toEqual(['n10', 'n20', 'n30']);
    expect(await find('jsonrpc', 2)).toEqual(['n10', 'n20']);
    expect(await find('protocol')).toEqual([]);
  });
});

describe('a row that cannot be used', () => {
  async function startWithBroken(change: (body: string) => string) {
    const world = await startWithProd();
    await world.instances.add({ ...PROD, name: 'whole' });
    await tamper(world.store, 'prod', change);
    return world;
  }

  test.each([
    ['no JSON', () => '{"v":1'],
    ['of a later version', (body: string) => body.replace('"v":1', '"v":2')],
    ['with an unknown member', (body: string) => body.replace('{', '{"more":1,')],
    ['with an invalid url', (body: string) => body.replace('https://', 'ftp://')],
  ])('is told by name and stops no other: %s', async (_what, change) => {
    const { store, instances, errors } = await startWithBroken(change);
    for (const read of [instances.find, instances.get, instances.openKey]) {
      const use = async () => read('prod');
      await expect(use()).rejects.toThrow(VaultError);
      await expect(use()).rejects.toThrow(/instance prod /);
    }
    expect((await instances.find('whole'))?.apiKey).toBe(API_KEY);
    expect((await instances.list({ after: null, limit: 1 })).map(({ name }) => name)).toEqual(['whole']);
    expect(errors).toEqual([expect.any(VaultError)]);
    const row = (await store.instances.findByName('prod')) ?? expect.fail();
    expect(await instances.remove(row)).toBe('done');
  });

  test.each([
    ['the url', (body: string) => body.replace('erp.example.com', 'evil.example')],
    ['the certificates', (body: string) => body.replace(JSON.stringify(TEST_CERTIFICATE), 'null')],
    ['the allowance', (body: string) => body.replace('"allow_private":false', '"allow_private":true')],
  ])('because somebody changed %s in the store sends the key nowhere', async (_what, change) => {
    const world = await startWithProd({ certificates: TEST_CERTIFICATE });
    await tamper(world.store, 'prod', change);
    const find = async () => world.instances.find('prod');
    await expect(find()).rejects.toThrow(/key of the instance prod cannot be used.*give it again/);
  });

  test('with the sealed key of another instance does not open', async () => {
    const world = await startWithProd();
    await world.instances.add({ ...PROD, name: 'test', api_key: 'the-key-of-test' });
    const prod = await world.store.instances.findByName('prod');
    await tamper(world.store, 'test', () => prod?.body ?? '');
    await expect((async () => world.instances.find('test'))()).rejects.toThrow(VaultError);
  });
});

describe('the key of an instance', () => {
  const PENDING = { apiKey: PENDING_KEY, step: 'proving', since: 5, expiresAt: 9_000 } as const;

  test('can have a second key beside it, and both can change in one step', async () => {
    const { instances } = await startWithProd();
    expect(await instances.changeKey(await findVersion(instances, 'prod', 1), { pending: PENDING })).toBe(
      'done',
    );
    const proving = await instances.openKey('prod');
    expect(proving).toMatchObject({
      record: { version: 2, key: { pendingStep: 'proving' } },
      pending: { step: 'proving', since: 5, expiresAt: 9_000 },
    });
    expect([proving?.apiKey, proving?.pending?.apiKey]).toEqual([API_KEY, PENDING_KEY]);
    expect((await instances.find('prod'))?.apiKey).toBe(API_KEY);

    const pending = { apiKey: API_KEY, step: 'revoking', since: 6, expiresAt: null } as const;
    await instances.changeKey(await findVersion(instances, 'prod', 2), {
      apiKey: PENDING_KEY,
      expiresAt: 9_000,
      isExpiryKnown: true,
      failure: null,
      pending,
    });
    const revoking = await instances.openKey('prod');
    expect([revoking?.apiKey, revoking?.pending?.apiKey]).toEqual([PENDING_KEY, API_KEY]);
    expect(revoking?.record.key).toMatchObject({ expiresAt: 9_000, isExpiryKnown: true, failure: null });
    expect((await instances.find('prod'))?.apiKey).toBe(PENDING_KEY);

    await instances.changeKey(await findVersion(instances, 'prod', 3), {
      pending: null,
      failure: 'Odoo said no',
    });
    expect(await instances.openKey('prod')).toMatchObject({
      pending: null,
      record: { key: { expiresAt: 9_000, failure: 'Odoo said no', pendingStep: null } },
    });
  });

  test('has its state reset when an operator gives another key, but not when it is the same', async () => {
    const { instances } = await startWithProd({ key_expires_at: '2027-01-31T00:00:00Z' });
    await instances.changeKey(await findVersion(instances, 'prod', 1), { failure: 'Odoo said no' });
    const { key } = (await instances.get('prod')) ?? {};
    await instances.update(await findVersion(instances, 'prod', 2), { api_key: API_KEY });
    expect((await instances.get('prod'))?.key).toEqual(key);
    await instances.update(await findVersion(instances, 'prod', 3), { api_key: 'another-key' });
    expect((await instances.get('prod'))?.key).toMatchObject({
      expiresAt: null,
      isExpiryKnown: false,
      failure: null,
    });
    await instances.update(await findVersion(instances, 'prod', 4), {
      api_key: 'a-third-key',
      key_expires_at: '2028-01-31T00:00:00Z',
    });
    expect((await instances.get('prod'))?.key).toMatchObject({
      expiresAt: Date.parse('2028-01-31T00:00:00Z'),
      isExpiryKnown: true,
    });
    await instances.update(await findVersion(instances, 'prod', 5), { key_expires_at: null });
    expect((await instances.get('prod'))?.key).toMatchObject({ expiresAt: null, isExpiryKnown: false });
  });

  test('if an operator replaces it during a rotation, the second key is marked for removal at Odoo', async () => {
    const { instances } = await startWithProd();
    await instances.changeKey(await findVersion(instances, 'prod', 1), { pending: PENDING });
    await instances.update(await findVersion(instances, 'prod', 2), { api_key: 'another-key' });
    const state = await instances.openKey('prod');
    expect([state?.apiKey, state?.pending?.apiKey]).toEqual(['another-key', PENDING_KEY]);
    expect(state?.pending?.step).toBe('revoking');
  });

  test('if an operator restores it during a rotation, it is not removed at Odoo', async () => {
    const { instances } = await startWithProd();
    await instances.changeKey(await findVersion(instances, 'prod', 1), {
      pending: { ...PENDING, step: 'revoking' },
    });
    await instances.update(await findVersion(instances, 'prod', 2), { api_key: PENDING_KEY });
    expect((await instances.openKey('prod'))?.pending).toBeNull();
  });

  test('never goes to another server, and neither does the second key', async () => {
    const { instances } = await startWithProd();
    await instances.changeKey(await findVersion(instances, 'prod', 1), {
      pending: { ...PENDING, step: 'revoking' },
    });
    await instances.update(await findVersion(instances, 'prod', 2), {
      url: 'https://other.example',
      api_key: API_KEY,
    });
    expect((await instances.openKey('prod'))?.pending).toBeNull();
  });
});

describe('another master key', () => {
  test('than the one that sealed fails the start with an error that names it', async () => {
    const world = await startWithProd();
    for (const vault of [makeVault(), null]) {
      const starting = start(world, { vault });
      await expect(starting).rejects.toThrow(VaultError);
      await expect(starting).rejects.toThrow(world.vault?.masterKeyId);
      await expect(starting).rejects.toThrow(/vault\.masterKey/);
    }
  });

  test('is not needed if nothing is stored', async () => {
    const instances = await start(makeWorld(), { vault: null });
    expect(await instances.find('prod')).toBeNull();
    expect(await instances.list({ after: null, limit: 10 })).toEqual([]);
    expect(await instances.reseal(describeReseal)).toBe(0);
  });

  test('that is lost does not prevent listing and removing instances, for repair', async () => {
    const world = await startWithProd();
    const instances = await start(world, { vault: makeVault(), isForRepair: true });
    expect((await instances.list({ after: null, limit: 10 })).map(({ name }) => name)).toEqual(['prod']);
    await expect((async () => instances.find('prod'))()).rejects.toThrow(world.vault?.masterKeyId);
    await expect(instances.add({ ...PROD, name: 'test' })).rejects.toThrow(world.vault?.masterKeyId);
    expect(await instances.remove(await findVersion(instances, 'prod', 1))).toBe('done');
    await start(world, { vault: makeVault() });
  });

  test('takes over step by step during calls, and leaves nothing sealed under the old one', async () => {
    const [oldKey, newKey] = [makeKey(), makeKey()];
    const world = { ...makeWorld(), vault: makeVault(oldKey) };
    const names = Array.from({ length: 120 }, (_, n) => `n${n}`);
    const first = await start(world);
    for (const name of names) await first.add({ ...PROD, name, api_key: `key-of-${name}` });
    await first.changeKey(await findVersion(first, 'n3', 1), {
      pending: { apiKey: PENDING_KEY, step: 'revoking', since: 1, expiresAt: null },
    });

    /** Checks that every replica finds every instance, as callers expect at any time. */
    const expectAllFound = async (...replicas: Instances[]) => {
      for (const replica of replicas) {
        for (const name of names) expect((await replica.find(name))?.apiKey).toBe(`key-of-${name}`);
      }
    };
    const restart = (masterKey: string, others: string[] = []) =>
      start(world, { vault: makeVault(masterKey, others) });

    // 1. Every replica gets the new key as well.
    const a = await restart(oldKey, [newKey]);
    await expectAllFound(first, a);
    const b = await restart(oldKey, [newKey]);
    await expectAllFound(a, b);
    // 2. Each replica in turn swaps the two keys, and reseals at its start.
    const c = await restart(newKey, [oldKey]);
    let isDone = false;
    const resealing = c.reseal(describeReseal).finally(() => {
      isDone = true;
    });
    while (!isDone) await expectAllFound(b, c);
    expect(await resealing).toBe(120);
    // A replica that has not swapped the keys yet seals under the old key once more.
    await b.update(await findVersion(b, 'n5', 2), { timeout_ms: 5 });
    await expectAllFound(b, c);
    const d = await restart(newKey, [oldKey]);
    expect(await d.reseal(describeReseal)).toBe(1);
    await expectAllFound(c, d);
    expect(await d.reseal(describeReseal)).toBe(0);
    // 3. The old key can be removed.
    const e = await restart(newKey);
    await expectAllFound(d, e);
    expect((await e.openKey('n3'))?.pending?.apiKey).toBe(PENDING_KEY);
    await expect(restart(oldKey)).rejects.toThrow(VaultError);
  });

  test('reseals concurrently with other replicas and with changes, without loss', async () => {
    const [oldKey, newKey] = [makeKey(), makeKey()];
    const world = { ...makeWorld(), vault: makeVault(oldKey) };
    const first = await start(world);
    const names = Array.from({ length: 50 }, (_, n) => `n${n}`);
    for (const name of names) await first.add({ ...PROD, name });
    const replicas = await Promise.all(
      Array.from({ length: 10 }, () => start(world, { vault: makeVault(newKey, [oldKey]) })),
    );
    const change = async (name: string) => {
      for (;;) {
        const record = (await first.get(name)) ?? expect.fail();
        if ((await replicas[0]?.update(record, { db: `db-${name}` })) === 'done') return;
      }
    };
    const [counts] = await Promise.all([
      Promise.all(replicas.map((replica) => replica.reseal(describeReseal))),
      ...names.slice(0, 25).map(change),
    ]);
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(50);
    expect([...(await world.store.instances.countByMasterKey()).values()]).toEqual([50]);
    for (const [index, name] of names.entries()) {
      const instance = await replicas[1]?.find(name);
      expect([instance?.apiKey, instance?.db]).toEqual([API_KEY, index < 25 ? `db-${name}` : 'prod']);
    }
  });

  test('reseals an instance that changes between read and write', async () => {
    const [oldKey, newKey] = [makeKey(), makeKey()];
    const world = { ...makeWorld(), vault: makeVault(oldKey) };
    const first = await start(world);
    await first.add(PROD);
    const { instances } = world.store;
    const store: Store = {
      ...world.store,
      instances: {
        ...instances,
        async list(query) {
          const page = await instances.list(query);
          await first.update(await findVersion(first, 'prod', 1), { db: 'changed' });
          return page;
        },
      },
    };
    const vault = makeVault(newKey, [oldKey]);
    const second = await start(world, { store, vault });
    expect(await second.reseal(describeReseal)).toBe(1);
    expect([...(await instances.countByMasterKey()).keys()]).toEqual([vault?.masterKeyId]);
    const instance = await second.find('prod');
    expect([instance?.db, instance?.apiKey]).toEqual(['changed', API_KEY]);
  });

  test('reseals all that can be opened, and reports the others', async () => {
    const [oldKey, newKey] = [makeKey(), makeKey()];
    const world = { ...makeWorld(), vault: makeVault(oldKey) };
    const first = await start(world);
    for (const name of ['a', 'b', 'c']) await first.add({ ...PROD, name });
    await tamper(world.store, 'b', () => '{}');
    const second = await start(world, { vault: makeVault(newKey, [oldKey]) });
    expect(await second.reseal(describeReseal)).toBe(2);
    expect(world.errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('instance b ') }),
    ]);
  });
});

test('returned values, stored rows and errors show no secret', async () => {
  const { store, instances } = await startWithProd({ certificates: TEST_CERTIFICATE });
  const pending = { apiKey: PENDING_KEY, step: 'revoking', since: 5, expiresAt: null } as const;
  await instances.changeKey(await findVersion(instances, 'prod', 1), { pending });
  const instance = await instances.find('prod');
  const state = await instances.openKey('prod');
  const handedOut = [
    instances,
    instance,
    { ...instance },
    state,
    { ...state?.pending },
    await instances.get('prod'),
    await instances.list({ after: null, limit: 10 }),
    { ...(await store.instances.findByName('prod')) },
    await instances
      .update(await findVersion(instances, 'prod', 2), { url: 'https://other.example' })
      .catch((error: unknown) => error),
    await tamper(store, 'prod', (body) => body.replace('erp.example.com', 'evil.example')),
    await instances.openKey('prod').catch((error: unknown) => error),
  ];
  const shown = handedOut.flatMap((value) => [
    JSON.stringify(value) ?? '',
    String(value),
    inspect(value, { depth: null }),
  ]);
  for (const secret of [API_KEY, PENDING_KEY]) expect(shown.join('\n')).not.toContain(secret);
  expect([instance?.apiKey, state?.apiKey, state?.pending?.apiKey]).toEqual([API_KEY, API_KEY, PENDING_KEY]);
});

import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { openStore } from '@erp-proxy/stores';
import type { Store } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { createInstances, type Instance } from '../instances/instances.ts';
import { createVault, VaultError } from '../instances/vault.ts';
import { createConnections } from './connections.ts';

const MASTER_KEY = randomBytes(32).toString('base64');
const openVault = (masterKey = MASTER_KEY, otherMasterKeys: string[] = []) =>
  createVault({ masterKey, otherMasterKeys });
const ADA = { person: 'corp/ada', login: 'ada', userId: 7, apiKey: 'key-of-ada', keyExpiresAt: null };

async function start() {
  const store = closeAfterTest(await openStore('memory:'));
  const lookups: string[] = [];
  const counting: Pick<Store, 'connections' | 'watch' | 'isWatching'> = {
    connections: {
      ...store.connections,
      find(instance, person) {
        lookups.push(person);
        return store.connections.find(instance, person);
      },
    },
    watch: (listener) => store.watch(listener),
    get isWatching() {
      return store.isWatching;
    },
  };
  const instances = closeAfterTest(await createInstances({ store, vault: openVault(), clock: Date.now }));
  const make = (vault = openVault()) =>
    closeAfterTest(createConnections({ store: counting, vault, clock: () => 5 }));
  async function addInstance(name: string): Promise<Instance> {
    await instances.add({ name, url: `https://${name}.example.com`, db: 'prod', identity: 'person' });
    return (await instances.find(name))!;
  }
  return {
    store,
    lookups,
    instances,
    make,
    addInstance,
    connections: make(),
    prod: await addInstance('prod'),
  };
}

test('finds the connection of the person and the instance, and of no others', async () => {
  const { connections, prod, addInstance } = await start();
  const other = await addInstance('other');
  expect(await connections.find('corp/ada', prod)).toBeNull();
  expect(await connections.put(prod, ADA)).toMatchObject({ person: 'corp/ada', createdAt: 5 });
  expect(await connections.find('corp/ada', prod)).toMatchObject({ userId: 7, apiKey: 'key-of-ada' });
  for (const person of ['corp/ad', 'corp/ada ', 'corp/Ada', 'other/ada'])
    expect(await connections.find(person, prod)).toBeNull();
  expect(await connections.find('corp/ada', other)).toBeNull();
});

test('shows the key in no printed or copied form', async () => {
  const { connections, prod, store } = await start();
  await connections.put(prod, ADA);
  const found = await connections.find('corp/ada', prod);
  const texts = [JSON.stringify(found), inspect(found, { depth: 9 }), JSON.stringify({ ...found })];
  texts.push(JSON.stringify(await connections.list({ after: null, limit: 9 })));
  texts.push(JSON.stringify(await store.connections.list({ after: null, limit: 9 })));
  for (const text of texts) expect(text).not.toContain('key-of-ada');
});

test('a call costs one lookup the first time and none after it, with ten thousand connections', async () => {
  const { connections, prod, store, lookups, make } = await start();
  for (let index = 0; index < 10_000; index++) {
    const person = `corp/p${index}`;
    await store.connections.put({
      instance: 'prod',
      person,
      instanceId: prod.id,
      masterKeyId: 'm',
      body: '{}',
    });
  }
  await connections.put(prod, ADA);
  const fresh = make();
  lookups.length = 0;
  for (let call = 0; call < 3; call++) await fresh.find('corp/ada', prod);
  expect(lookups).toEqual(['corp/ada']);
  expect(await fresh.list({ after: null, limit: 9, person: 'corp/ada' })).toHaveLength(1);
});

test('a key does not open for another person, instance, server or user', async () => {
  const { make, connections, prod, store, addInstance } = await start();
  const other = await addInstance('other');
  await connections.put(prod, ADA);
  const row = (await store.connections.find('prod', 'corp/ada'))!;
  await store.connections.put({ ...row, person: 'corp/eve' });
  await expect(make().find('corp/eve', prod)).rejects.toThrow(VaultError);
  await store.connections.put({ ...row, instance: 'other', instanceId: other.id });
  await expect(make().find('corp/ada', other)).rejects.toThrow(VaultError);
  for (const change of [{ server: other.serverId }, { user_id: 2 }]) {
    await store.connections.put({ ...row, body: JSON.stringify({ ...JSON.parse(row.body), ...change }) });
    await expect(make().find('corp/ada', prod)).rejects.toThrow(VaultError);
  }
});

test('a removal by another process is known within a second, and so is a renewal', async () => {
  const { make, connections, prod } = await start();
  const other = make();
  await connections.put(prod, ADA);
  expect(await other.find('corp/ada', prod)).toMatchObject({ apiKey: 'key-of-ada' });
  await connections.put(prod, { ...ADA, apiKey: 'new-key-of-ada' });
  await expect.poll(() => other.find('corp/ada', prod)).toMatchObject({ apiKey: 'new-key-of-ada' });
  expect(await connections.remove({ instance: 'prod', person: 'corp/ada' })).toBe(true);
  expect(await connections.find('corp/ada', prod)).toBeNull();
  await expect.poll(() => other.find('corp/ada', prod)).toBeNull();
});

test('seals keys again under a new master key, once', async () => {
  const { make, connections, prod, store } = await start();
  await connections.put(prod, ADA);
  const newKey = randomBytes(32).toString('base64');
  const renewed = make(openVault(newKey, [MASTER_KEY]));
  const batches: unknown[] = [];
  const describe = (id: object, keys: object) => {
    batches.push({ ...id, ...keys });
    return undefined as never;
  };
  expect(await renewed.reseal(describe)).toBe(1);
  expect(await renewed.reseal(describe)).toBe(0);
  expect(batches).toHaveLength(1);
  expect((await store.connections.find('prod', 'corp/ada'))?.masterKeyId).toBe(
    openVault(newKey)?.masterKeyId,
  );
  expect(await make(openVault(newKey)).find('corp/ada', prod)).toMatchObject({ apiKey: 'key-of-ada' });
});

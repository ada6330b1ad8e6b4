import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { KeyStore, Store } from '@erp-proxy/stores/ports';
import { openMemoryStore, openSqliteStore } from '@erp-proxy/stores/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { generateKey } from './format.ts';
import { createKeys, type Keys, type KeysOptions, type NewKey } from './keys.ts';

const START = 1_800_000_000_000;
const ALL = { after: null, limit: 1000 };
/** The same as in last-used.ts. */
const WRITE_DELAY_MS = 1000;
const READ_ONLY = { instances: ['*'], models: { '*': ['*'] }, read_only: true };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanups.push(() => vi.useRealTimers());
}

describe('authenticate', () => {
  test('accepts a created key, and returns no hash of it', async () => {
    const { keys } = await open();
    const created = await keys.create({ name: 'Shop' });
    for (const _ of ['from the store', 'from memory']) {
      const outcome = await keys.authenticate(created.key);
      expect(outcome).toEqual({ key: created.record, policy: null });
      expect(outcome).not.toHaveProperty('key.secretHash');
    }
  });

  test('refuses a missing and a malformed key without a store lookup', async () => {
    const { keys, lookups } = await open();
    const { key } = await keys.create({ name: 'Shop' });
    for (const text of [undefined, '']) {
      expect(await keys.authenticate(text)).toEqual({ refused: 'missing', keyId: null });
    }
    for (const text of ['ep_', key.slice(0, -1), `${key}x`, key.toLowerCase(), 'x'.repeat(1_000_000)]) {
      expect(await keys.authenticate(text)).toEqual({ refused: 'malformed', keyId: null });
    }
    expect(lookups()).toBe(0);
  });

  test('refuses an unknown id and a wrong secret alike, with one lookup each, cached or not', async () => {
    const { keys, lookups } = await open();
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    const stranger = generateKey();
    const forged = forgeKey(id);
    await keys.authenticate(key);
    for (let round = 1; round <= 3; round++) {
      const before = lookups();
      expect(await keys.authenticate(stranger.text)).toEqual({ refused: 'unknown', keyId: stranger.id });
      expect(lookups()).toBe(before + 1);
      expect(await keys.authenticate(forged)).toEqual({ refused: 'unknown', keyId: id });
      expect(lookups()).toBe(before + 2);
    }
    expect(await keys.authenticate(key)).toMatchObject({ key: { id } });
  });

  test('reads a key in use from the store once, until it changes', async () => {
    const { keys, time, lookups } = await open();
    const { key } = await keys.create({ name: 'Shop' });
    for (let call = 0; call < 500; call++) {
      await keys.authenticate(key);
      time.now += 60_000;
    }
    expect(lookups()).toBe(1);
  });

  test('returns the policy of a key; a change takes effect at once in the same process', async () => {
    const { keys } = await open();
    const { key, record } = await keys.create({ name: 'Shop', policy: READ_ONLY });
    expect(await keys.authenticate(key)).toMatchObject({ policy: { policy: READ_ONLY } });
    expect(await keys.update(record.id, 1, { policy: null })).toBe('done');
    expect(await keys.authenticate(key)).toMatchObject({ key: { version: 2 }, policy: null });
    expect(await keys.update(record.id, 1, { policy: READ_ONLY })).toBe('conflict');
    expect(await keys.update('nobody', 1, { policy: READ_ONLY })).toBe('missing');
  });

  test('accepts no key whose policy cannot be read', async () => {
    const { keys, store } = await open();
    const { key, record } = await keys.create({ name: 'Shop', policy: READ_ONLY });
    await store.keys.update(record.id, 1, { policy: '{"instances":["*"],"sees":"all"}' });
    await expect((async () => keys.authenticate(key))()).rejects.toThrow(/policy of key .* cannot be read/);
  });

  test('accepts no key whose policy has a duplicate member', async () => {
    const { keys, store } = await open();
    const { key, record } = await keys.create({ name: 'Shop', policy: READ_ONLY });
    const policy = '{"instances":["*"],"models":{"res.partner":["read"],"res.partner":["*"]}}';
    await store.keys.update(record.id, 1, { policy });
    await expect((async () => keys.authenticate(key))()).rejects.toThrow(
      'cannot be read (The member models["res.partner"] appears twice',
    );
  });

  test('refuses a key from the millisecond of its expiry, even if cached', async () => {
    const { keys, time } = await open();
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Trial', expiresAt: START + 100 });
    time.now = START + 99;
    expect(await keys.authenticate(key)).toMatchObject({ key: { id } });
    time.now = START + 100;
    expect(await keys.authenticate(key)).toEqual({ refused: 'expired', keyId: id });
  });

  test('refuses a revoked key at once in the same process', async () => {
    const { keys } = await open();
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    await keys.authenticate(key);
    expect(await keys.revoke(id)).toBe(true);
    expect(await keys.authenticate(key)).toEqual({ refused: 'revoked', keyId: id });
  });

  test('refuses a key that another process revoked', async () => {
    const { file } = useDirectory();
    const server = await open({ store: await openSqliteStore(file) });
    const cli = await open({ store: await openSqliteStore(file) });
    const {
      key,
      record: { id },
    } = await server.keys.create({ name: 'Shop' });
    await server.keys.authenticate(key);
    await cli.keys.revoke(id);
    await expect.poll(() => server.keys.authenticate(key)).toEqual({ refused: 'revoked', keyId: id });
  });

  test('refuses a key that another process revoked, even if the clock was set back since', async () => {
    const { store, keys, time } = await open();
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    await keys.authenticate(key);
    await store.keys.revoke(id, START);
    time.now -= 3_600_000;
    expect(await keys.authenticate(key)).toEqual({ refused: 'revoked', keyId: id });
  });

  test('accepts a key that another process just created', async () => {
    const { file } = useDirectory();
    const server = await open({ store: await openSqliteStore(file) });
    const cli = await open({ store: await openSqliteStore(file) });
    const {
      key,
      record: { id },
    } = await cli.keys.create({ name: 'Shop' });
    expect(await server.keys.authenticate(key)).toMatchObject({ key: { id } });
  });

  test('accepts only cached keys while the store fails', async () => {
    const { file } = useDirectory();
    const { keys, store } = await open({ store: await openSqliteStore(file) });
    const known = await keys.create({ name: 'Shop' });
    const unknown = await keys.create({ name: 'Other' });
    await keys.authenticate(known.key);
    await keys.flush();
    await store.close();
    expect(await keys.authenticate(known.key)).toMatchObject({ key: { name: 'Shop' } });
    await expect((async () => keys.authenticate(unknown.key))()).rejects.toThrow('it is closed');
    const forged = forgeKey(known.record.id);
    expect(await keys.authenticate(forged)).toEqual({ refused: 'unknown', keyId: known.record.id });
  });

  test('works the same with an asynchronous store', async () => {
    const memory = openMemoryStore();
    const store = replaceKeys(memory, { findById: async (id: string) => memory.keys.findById(id) });
    const { keys } = await open({ store });
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    expect(await keys.authenticate(key)).toMatchObject({ key: { id } });
    expect(await keys.authenticate(forgeKey(id))).toEqual({ refused: 'unknown', keyId: id });
    await memory.keys.revoke(id, START);
    expect(await keys.authenticate(key)).toEqual({ refused: 'revoked', keyId: id });
  });
});

describe('last use', () => {
  test('is not written during the call', async () => {
    const { keys, touches } = await open();
    await keys.authenticate((await keys.create({ name: 'Shop' })).key);
    expect(touches()).toEqual([]);
    await keys.flush();
    expect(touches()).toEqual([START]);
  });

  test('is written once a minute for a key in constant use', async () => {
    const { keys, time, touches } = await open();
    const { key } = await keys.create({ name: 'Shop' });
    for (let call = 0; call < 720; call++) {
      await keys.authenticate(key);
      await keys.flush();
      time.now += 250;
    }
    expect(touches()).toEqual([START, START + 60_000, START + 120_000]);
    expect((await keys.list(ALL))[0]?.lastUsedAt).toBe(START + 120_000);
  });

  test('is not written again within the minute by another process', async () => {
    const { store, keys, time, touches } = await open();
    const other = await open({ store });
    const { key } = await keys.create({ name: 'Shop' });
    await other.keys.authenticate(key);
    await other.keys.flush();
    time.now += 1000;
    await keys.authenticate(key);
    await keys.flush();
    expect(touches()).toEqual([START]);
  });

  test('is written without a flush', async () => {
    const { keys } = await open();
    const { key } = await keys.create({ name: 'Shop' });
    useFakeTimers();
    await keys.authenticate(key);
    await vi.advanceTimersByTimeAsync(WRITE_DELAY_MS);
    expect((await keys.list(ALL))[0]?.lastUsedAt).toBe(START);
  });

  test('is written for every key at close, and the store stays open', async () => {
    const { keys } = await open();
    for (let index = 0; index < 450; index++) {
      await keys.authenticate((await keys.create({ name: `Shop ${index}` })).key);
    }
    await keys.close();
    const listed = await keys.list(ALL);
    expect(listed).toHaveLength(450);
    expect(listed.every((key) => key.lastUsedAt === START)).toBe(true);
  });

  test('is not written for a key that was refused', async () => {
    const { keys, touches } = await open();
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    await keys.revoke(id);
    await keys.authenticate(key);
    await keys.authenticate(forgeKey(id));
    await keys.close();
    expect(touches()).toEqual([]);
  });

  test('does not fail the call if it cannot be written, but reports the error', async () => {
    const { file } = useDirectory();
    const errors: unknown[] = [];
    const { keys, store } = await open({
      store: await openSqliteStore(file),
      onError: (error) => errors.push(error),
    });
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    useFakeTimers();
    expect(await keys.authenticate(key)).toMatchObject({ key: { id } });
    await store.close();
    await vi.advanceTimersByTimeAsync(WRITE_DELAY_MS);
    vi.useRealTimers();
    await expect.poll(() => errors.length).toBe(1);
    expect(await keys.authenticate(key)).toMatchObject({ key: { id } });
  });
});

describe('secrets', () => {
  test('are not in the files of the store', async () => {
    const { directory, file } = useDirectory();
    const { keys, store } = await open({ store: await openSqliteStore(file) });
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    await keys.authenticate(key);
    await keys.flush();
    const secret = key.slice(16, 49);
    for (const step of ['open', 'closed']) {
      const bytes = Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));
      expect(bytes.includes(id), step).toBe(true);
      expect(bytes.includes(key), step).toBe(false);
      expect(bytes.includes(secret), step).toBe(false);
      if (step === 'open') await store.close();
    }
  });

  test('are not in the list', async () => {
    const { keys } = await open();
    const { key } = await keys.create({ name: 'Shop' });
    expect(JSON.stringify(await keys.list(ALL))).not.toContain(key.slice(16, 49));
  });

  test('stay valid after a restart with the same setting, but not with another', async () => {
    const store = openMemoryStore();
    const { keys } = await open({ store, hashSecret: 'a'.repeat(32) });
    const {
      key,
      record: { id },
    } = await keys.create({ name: 'Shop' });
    const same = await open({ store, hashSecret: 'a'.repeat(32) });
    expect(await same.keys.authenticate(key)).toMatchObject({ key: { id } });
    for (const hashSecret of ['b'.repeat(32), undefined]) {
      const other = await open({ store, hashSecret });
      expect(await other.keys.authenticate(key)).toEqual({ refused: 'unknown', keyId: id });
    }
  });

  test('stay valid after a restart without the setting', async () => {
    const store = openMemoryStore();
    const {
      key,
      record: { id },
    } = await (await open({ store })).keys.create({ name: 'Shop' });
    expect(await (await open({ store })).keys.authenticate(key)).toMatchObject({ key: { id } });
  });

  test('are not hashed under a setting that is too short', async () => {
    await expect(open({ hashSecret: 'changeme' })).rejects.toThrow(/keys\.hashSecret is too short/);
  });
});

describe('create', () => {
  test.each(['', '  ', 'a\nb', 'a\u2028b', 'a\u202eb', 'a\ud800b', 'a\u001b[31m', 'x'.repeat(201)])(
    'refuses the name %j',
    async (name) => {
      const { keys } = await open();
      await expect(keys.create({ name })).rejects.toThrow(/name of a key/);
      expect(await keys.isEmpty()).toBe(true);
    },
  );

  test.each([START, START - 1, Number.NaN, 1.5, Infinity])('refuses %d as the expiry', async (expiresAt) => {
    const { keys } = await open();
    await expect(keys.create({ name: 'Shop', expiresAt })).rejects.toThrow(/in the future/);
  });
});

describe('rotate', () => {
  test('creates a successor; the old key works until the overlap ends', async () => {
    const { keys, time } = await open();
    const old = await keys.create({ name: 'Shop', policy: READ_ONLY });
    const fresh = await rotate(keys, old.record.id, 1000);
    expect(fresh.record).toMatchObject({
      name: 'Shop',
      policy: old.record.policy,
      replaces: old.record.id,
      expiresAt: null,
    });
    time.now += 999;
    expect(await keys.authenticate(old.key)).toMatchObject({ key: { id: old.record.id } });
    expect(await keys.authenticate(fresh.key)).toMatchObject({ key: { id: fresh.record.id } });
    time.now += 1;
    expect(await keys.authenticate(old.key)).toEqual({ refused: 'expired', keyId: old.record.id });
    expect(await keys.authenticate(fresh.key)).toMatchObject({ policy: { policy: READ_ONLY } });
  });

  test('gives every successor the client of the first key', async () => {
    const { keys } = await open();
    const first = await keys.create({ name: 'Shop' });
    const second = await rotate(keys, first.record.id, 1000);
    const third = await rotate(keys, second.record.id, 1000);
    const clients = [first, second, third].map(({ record }) => record.clientId);
    expect(clients).toEqual(Array(3).fill(first.record.id));
    expect(await keys.authenticate(third.key)).toMatchObject({ key: { clientId: first.record.id } });
    expect((await keys.create({ name: 'Shop' })).record.clientId).not.toBe(first.record.id);
  });

  test('creates one successor for concurrent requests', async () => {
    const memory = openMemoryStore();
    const store = replaceKeys(memory, { findById: async (id: string) => memory.keys.findById(id) });
    const { keys } = await open({ store });
    const { record } = await keys.create({ name: 'Shop' });
    const rotated = await Promise.all(
      [1, 2, 3].map((hours) => keys.rotate(record.id, { overlapMs: hours * 3_600_000 })),
    );
    expect(rotated.filter((outcome) => outcome === 'conflict')).toHaveLength(2);
    expect(await keys.list(ALL)).toHaveLength(2);
  });

  test('creates one successor also if the expiry of the old key does not change', async () => {
    const { keys } = await open();
    const { record } = await keys.create({ name: 'Trial', expiresAt: START + 10 });
    const fresh = await rotate(keys, record.id, 60_000);
    expect(await keys.rotate(record.id, { overlapMs: 60_000 })).toEqual({ successorId: fresh.record.id });
    expect(await keys.list(ALL)).toHaveLength(2);
  });

  test('rotates only the given version', async () => {
    const { keys } = await open();
    const { record } = await keys.create({ name: 'Shop' });
    expect(await keys.rotate(record.id, { overlapMs: 0, version: 2 })).toBe('conflict');
    expect(await keys.rotate(record.id, { overlapMs: 0, version: 1 })).toHaveProperty('key');
  });

  test('never extends the old key', async () => {
    const { keys } = await open();
    const { record } = await keys.create({ name: 'Trial', expiresAt: START + 10 });
    const fresh = await rotate(keys, record.id, 60_000);
    expect(fresh.record.expiresAt).toBe(START + 10);
    expect((await keys.find(record.id))?.expiresAt).toBe(START + 10);
  });

  test.each(['revoked', 'expired', 'missing'])('returns missing for a key that is %s', async (state) => {
    const { keys, time } = await open();
    const { record } = await keys.create({ name: 'Shop', expiresAt: START + 10 });
    if (state === 'revoked') await keys.revoke(record.id);
    if (state === 'expired') time.now += 10;
    expect(await keys.rotate(state === 'missing' ? 'nobody' : record.id, { overlapMs: 1000 })).toBe(
      'missing',
    );
    expect(await keys.list(ALL)).toHaveLength(1);
  });
});

test('revoke returns false for an unknown key', async () => {
  const { keys } = await open();
  expect(await keys.revoke('nobody')).toBe(false);
});

interface Opened {
  keys: Keys;
  store: Store;
  time: { now: number };
  /** Number of store lookups of a key. */
  lookups: () => number;
  /** The times of last use that were written. */
  touches: () => number[];
}

/** Opens keys on a store whose lookups are counted, with a clock that the test sets. */
async function open(options: Partial<KeysOptions> = {}): Promise<Opened> {
  const inner = options.store ?? openMemoryStore();
  const time = { now: START };
  const touches: number[] = [];
  let lookups = 0;
  const store = replaceKeys(inner, {
    findById(id) {
      lookups++;
      return inner.keys.findById(id);
    },
    touch(uses) {
      touches.push(...uses.values());
      return inner.keys.touch(uses);
    },
  });
  const keys = await createKeys({ ...options, store, clock: () => time.now });
  cleanups.push(async () => {
    await keys.close().catch(() => {});
    await inner.close();
  });
  return { keys, store, time, lookups: () => lookups, touches: () => touches };
}

async function rotate(keys: Keys, id: string, overlapMs: number): Promise<NewKey> {
  const outcome = await keys.rotate(id, { overlapMs });
  if (typeof outcome === 'object' && 'key' in outcome) return outcome;
  throw new Error(JSON.stringify(outcome));
}

/** The store with some of its key methods replaced. */
function replaceKeys(store: Store, methods: Partial<KeyStore>): Store {
  return {
    label: store.label,
    keys: { ...store.keys, ...methods },
    instances: store.instances,
    connections: store.connections,
    consents: store.consents,
    signInObjects: store.signInObjects,
    audit: store.audit,
    idempotency: store.idempotency,
    jobs: store.jobs,
    callCounts: store.callCounts,
    statistics: store.statistics,
    approvals: store.approvals,
    deniedSubjects: store.deniedSubjects,
    operatorTokens: store.operatorTokens,
    operators: store.operators,
    subscriptions: store.subscriptions,
    leases: store.leases,
    watch: (listener) => store.watch(listener),
    get isWatching() {
      return store.isWatching;
    },
    trouble: null,
    probe: () => store.probe(),
    close: () => store.close(),
  };
}

/** A well-formed key with the id of another key and a wrong secret. */
function forgeKey(id: string): string {
  const body = `ep_${id}_${generateKey().secret}`;
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const check = [5, 4, 3, 2, 1, 0].map((place) => digits[Math.floor(crc32(body) / 62 ** place) % 62]);
  return body + check.join('');
}

function useDirectory(): { directory: string; file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-keys-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, file: join(directory, 'store.db') };
}

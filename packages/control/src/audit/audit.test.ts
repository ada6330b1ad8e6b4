import type { AuditView } from '@erp-proxy/contract';
import type { Store } from '@erp-proxy/stores/ports';
import { CHAIN_KEY, makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TOKEN_ACTOR } from './actors.ts';
import { makeAdminAction, makeCall } from './audit.fixture.ts';
import { type Audit, createAudit } from './audit.ts';
import { printCall } from './record.ts';
import { AuditQueryError } from './search.ts';

const NOW = Date.parse('2026-03-31T08:00:00.000Z');

let now: number;
let store: Store;
let audit: Audit;
beforeEach(() => {
  now = NOW;
  store = openMemoryStore();
  audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => now,
    retentionMs: null,
    onError: (error) => expect.unreachable(String(error)),
    onLost: (records) => expect.unreachable(`${records} lost`),
  });
});
afterEach(() => audit.close());

async function collect(views: AsyncIterable<AuditView>): Promise<AuditView[]> {
  const all: AuditView[] = [];
  for await (const view of views) all.push(view);
  return all;
}

/** Records calls of these models, one second apart. */
async function recordModels(...models: string[]): Promise<void> {
  for (const model of models) {
    audit.recordCall(makeCall({ model }));
    now += 1000;
  }
  await audit.flush();
}

const listModels = (views: AuditView[]) => views.map((view) => ('model' in view ? view.model : null));

test('the record of a call has key, address, server, method, outcome and times, and nothing else', async () => {
  audit.recordCall(makeCall());
  audit.recordCall(makeCall({ batchIndex: 3, upstreamMs: null, outcome: 'policy_denied', code: -32010 }));
  await audit.flush();
  const { items } = await audit.search({});
  expect(items[1]).toEqual({
    seq: 1,
    kind: 'call',
    time: '2026-03-31T08:00:00.000Z',
    request_id: 'request-1',
    key_id: 'key1',
    client_id: 'client1',
    address: '192.0.2.1',
    instance: 'prod',
    upstream: 'https://erp.example.com',
    db: 'prod',
    model: 'res.partner',
    action: 'read',
    outcome: 'ok',
    rule: null,
    approval: null,
    via: null,
    code: null,
    http_status: 200,
    batch_index: null,
    total_ms: 12.3,
    upstream_ms: 11.1,
  });
  expect(items[0]).toMatchObject({ seq: 2, batch_index: 3, upstream_ms: null, code: -32010 });
  const [row] = await store.audit.readAfter(0, 1);
  expect(row?.record).toMatch(/^\{"kind":"call","time":"2026-03-31T08:00:00.000Z",/);
  expect(row?.at).toBe(NOW);
  expect(row?.record).not.toMatch(/own id|a cause/);
});

test('records a refused request only if its key is known', async () => {
  const refusal = {
    requestId: 'r',
    address: '192.0.2.7',
    rule: null,
    refusedKey: null,
    httpStatus: 413,
    detail: 'secret cause',
  };
  audit.recordRefusal({ ...refusal, keyId: null, clientId: null, outcome: 'unauthorized' });
  audit.recordRefusal({ ...refusal, keyId: 'key1', clientId: 'client1', outcome: 'payload_too_large' });
  await audit.flush();
  const { items } = await audit.search({});
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({
    kind: 'call',
    key_id: 'key1',
    client_id: 'client1',
    model: null,
    outcome: 'payload_too_large',
    http_status: 413,
  });
  expect(JSON.stringify(items)).not.toContain('secret cause');
});

test('records an action with actor, address and changes before it resolves', async () => {
  await audit.recordAdminAction(makeAdminAction());
  const [row] = await store.audit.readAfter(0, 1);
  expect(JSON.parse(row?.record ?? '')).toEqual({
    kind: 'admin',
    time: '2026-03-31T08:00:00.000Z',
    request_id: 'request-2',
    actor: TOKEN_ACTOR,
    address: '192.0.2.7',
    action: 'key.update',
    target: 'key key1',
    changes: { name: { from: 'shop', to: 'web shop' } },
  });
});

test('lists newest first, page by page, with a cursor', async () => {
  await recordModels('a', 'b', 'c', 'd', 'e');
  const first = await audit.search({ limit: 2 });
  expect(listModels(first.items)).toEqual(['e', 'd']);
  await recordModels('f');
  const second = await audit.search({ limit: 2, cursor: first.next as string });
  expect(listModels(second.items)).toEqual(['c', 'b']);
  const third = await audit.search({ limit: 2, cursor: second.next as string });
  expect(listModels(third.items)).toEqual(['a']);
  expect(third.next).toBeNull();
});

test('filters by each member, and by time from `since` (inclusive) to `until` (exclusive)', async () => {
  await recordModels('a', 'b', 'c');
  await audit.recordAdminAction(makeAdminAction());
  audit.recordCall(makeCall({ keyId: 'key2', instance: null, method: 'write', outcome: 'user_error' }));
  await audit.flush();
  const find = async (query: Parameters<Audit['search']>[0]) => {
    const { items } = await audit.search(query);
    expect(await collect(audit.export(query)), 'as the export').toEqual(items.toReversed());
    return items.map(({ seq }) => seq);
  };
  expect(await find({})).toEqual([5, 4, 3, 2, 1]);
  expect(await find({ kind: 'call' })).toEqual([5, 3, 2, 1]);
  expect(await find({ kind: 'admin' })).toEqual([4]);
  expect(await find({ key_id: 'key2' })).toEqual([5]);
  expect(await find({ instance: 'prod' })).toEqual([3, 2, 1]);
  expect(await find({ model: 'b' })).toEqual([2]);
  expect(await find({ action: 'write' })).toEqual([5]);
  expect(await find({ action: 'key.update' })).toEqual([4]);
  expect(await find({ outcome: 'ok' })).toEqual([3, 2, 1]);
  expect(await find({ actor: 'token' })).toEqual([4]);
  expect(await find({ kind: 'call', model: 'c', outcome: 'user_error' })).toEqual([]);
  expect(await find({ since: '2026-03-31T08:00:01Z' })).toEqual([5, 4, 3, 2]);
  expect(await find({ until: '2026-03-31T10:00:01+02:00' })).toEqual([1]);
  expect(await find({ since: '2026-03-31T08:00:01.000Z', until: '2026-03-31T08:00:02Z' })).toEqual([2]);
  expect(await find({ since: '2026-03-31' })).toHaveLength(5);
  expect(await find({ since: '2026-04-01' })).toEqual([]);
});

test('searches for a rare value in bounded steps, and returns a cursor to continue', {}, async () => {
  await store.audit.append(makeBatch({ at: now, record: printCall(makeCall({ model: 'rare' }), now) }));
  const common = Array.from({ length: 10_000 }, () => ({ at: now, record: '{"model":"common"}' }));
  for (let batches = 0; batches < 12; batches++) await store.audit.append(makeBatch(...common));
  const first = await audit.search({ model: 'rare' });
  expect(first.items).toEqual([]);
  const second = await audit.search({ model: 'rare', cursor: first.next as string });
  expect(second.items).toMatchObject([{ seq: 1, model: 'rare' }]);
  expect(second.next).toBeNull();
});

test.each([
  [{ cursor: 'x' }, /cursor/],
  [{ cursor: Buffer.from('audit 0').toString('base64url') }, /cursor/],
  [{ limit: 0 }, /limit/],
  [{ limit: 501 }, /limit/],
  [{ limit: 1.5 }, /limit/],
  [{ since: 'yesterday' }, /since/],
  [{ since: '2026' }, /since/],
  [{ since: '2026-02-30' }, /since/],
  [{ since: '2026-13-01' }, /since/],
  [{ since: '2026-03-31T25:00Z' }, /since/],
  [{ until: '2026-03-31T08:00:00' }, /until/],
  [{ until: '' }, /until/],
])('refuses %j with words', async (query, words) => {
  await recordModels('a');
  await expect(audit.search(query)).rejects.toThrow(AuditQueryError);
  await expect(audit.search(query)).rejects.toThrow(words);
  if ('cursor' in query || 'limit' in query) return;
  expect(() => audit.export(query)).toThrow(words);
});

test('exports all pages, oldest first, up to the newest record at the start', async () => {
  const models = Array.from({ length: 450 }, (_, index) => `m${index}`);
  await recordModels(...models);
  const exported: AuditView[] = [];
  for await (const view of audit.export({})) {
    if (exported.length === 0) await recordModels('later');
    exported.push(view);
  }
  expect(listModels(exported)).toEqual(models);
  expect(exported.map(({ seq }) => seq)).toEqual(models.map((_, index) => index + 1));
});

test.each(['not json', '7', 'null', '{}', '{"kind":"call"}', '{"kind":"admin","time":"x"}', '\u0000'])(
  'shows an unreadable record as damaged, together with the others: %j',
  async (record) => {
    await recordModels('a');
    await store.audit.append(makeBatch({ at: NOW, record }));
    await recordModels('b');
    const kinds = (items: readonly AuditView[]) => items.map(({ kind }) => kind);
    const { items } = await audit.search({});
    expect(kinds(items)).toEqual(['call', 'damaged', 'call']);
    expect(items[1]).toMatchObject({ seq: 2, time: '2026-03-31T08:00:00.000Z' });
    expect(kinds(await collect(audit.export({})))).toEqual(['call', 'damaged', 'call']);
    const calls = (await audit.search({ kind: 'call' })).items.filter(({ kind }) => kind === 'call');
    expect(listModels(calls)).toEqual(['b', 'a']);
  },
);

test('shows the number of the row, even if the record contains another', async () => {
  const claims = JSON.stringify({ seq: 999, ...JSON.parse(printCall(makeCall(), NOW)) });
  await store.audit.append(makeBatch({ at: NOW, record: claims }));
  expect((await audit.search({})).items).toMatchObject([{ kind: 'call', seq: 1 }]);
});

test('records refused keys: ten a minute for each known key, sixty for all unknown ones together', async () => {
  const refuse = (id: string, why: 'unknown' | 'revoked') =>
    audit.recordRefusal({
      requestId: 'r',
      keyId: null,
      clientId: null,
      address: '192.0.2.7',
      outcome: 'unauthorized',
      rule: null,
      refusedKey: { id, why },
      httpStatus: 401,
      detail: null,
    });
  const count = async (query: object) => (await audit.search({ limit: 500, ...query })).items.length;
  for (let index = 0; index < 100; index++) {
    refuse('revoked1', 'revoked');
    refuse('revoked2', 'revoked');
    refuse(`made-up${index}`, 'unknown');
  }
  await audit.flush();
  expect(await count({ key_id: 'revoked1' })).toBe(10);
  expect(await count({ key_id: 'revoked2' })).toBe(10);
  expect(await count({})).toBe(80);
  now += 60_000;
  refuse('revoked1', 'revoked');
  await audit.flush();
  expect(await count({ key_id: 'revoked1' })).toBe(11);
});

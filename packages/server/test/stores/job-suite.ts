/** The part of the store suite about jobs. */

import type { JobBounds, JobRequest, JobRow, JobStore, Store } from '@erp-proxy/stores/ports';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { ENDLESS_MS, pause } from '../time.ts';

const BOUNDS: JobBounds = { clientMax: 100, waitingMax: 1000, bytesMax: 1e9 };
const AT = 5000;
const TIME = { now: AT, keepMs: ENDLESS_MS };
const END = { state: 'done', status: 200, headers: '{}', parts: 1, records: 7, bytes: 3 } as const;
const RECOVERY = { leaseMs: ENDLESS_MS, lostMax: 3, ...TIME };
/** An attempt that has lost its time when the next statement runs. */
const LOST_MS = -1;

export function buildJob(changes: Partial<JobRequest> = {}): JobRequest {
  return {
    id: 'a',
    client: 'one',
    key: 'key',
    route: 'execute',
    requestId: 'r1',
    facts: '{"model":"res.partner"}',
    secret: 'sealed',
    name: null,
    fingerprint: 'f',
    callback: null,
    body: [Buffer.from('body')],
    createdAt: 1000,
    ...changes,
  };
}

/** The report of a job's end is stored together with the delivery. */
export function describeJobReports(use: () => Pick<Store, 'jobs' | 'subscriptions'>): void {
  const OWNER = 'this';

  test('an ended job is reported by the subscription that it names, until a reading with it is committed', async () => {
    const { jobs, subscriptions } = use();
    const add = (id: string, callback: string | null) => jobs.add(buildJob({ id, callback }), BOUNDS);
    const list = async (callback: string, limit = 10) =>
      (await jobs.listUnreported(callback, limit)).map(({ id }) => id);
    await subscriptions.holdShards(OWNER, { ttlMs: ENDLESS_MS, latestMs: ENDLESS_MS });
    await subscriptions.insert({ id: 's', name: 'ended', body: '{}', createdAt: 0 }, 10);
    for (const [id, callback] of [
      ['a', 's'],
      ['b', 's'],
      ['c', 'other'],
      ['d', null],
      ['e', 's'],
    ] as const)
      await add(id, callback);
    expect(await list('s')).toEqual([]);
    for (const id of ['a', 'b', 'c', 'd']) await jobs.cancel(id, null, TIME);
    expect(await list('s')).toEqual(['a', 'b']);
    expect(await list('s', 1)).toEqual(['a']);
    const commit = (version: number, endedJobs: string[]) =>
      subscriptions.commitReading(OWNER, 's', version, {
        progress: '{}',
        now: AT,
        deliveries: endedJobs.map((id) => ({ id: `msg_${id}`, record: id, type: 'job.ended', body: '{}' })),
        endedJobs,
      });
    expect(await commit(7, ['a', 'b'])).toBe(false);
    expect(await list('s')).toEqual(['a', 'b']);
    expect(await commit(0, ['a'])).toBe(true);
    expect(await list('s')).toEqual(['b']);
    expect(await list('other')).toEqual(['c']);
  });
}

export function describeJobs(use: () => JobStore): void {
  let store: JobStore;
  const add = (changes: Partial<JobRequest> = {}, bounds: Partial<JobBounds> = {}) =>
    store.add(buildJob(changes), { ...BOUNDS, ...bounds });
  const claim = (attempt: string, leaseMs = ENDLESS_MS, clientMax = 100) =>
    store.claim(attempt, leaseMs, clientMax, AT);
  const find = async (id: string) => (await store.find(id)) as JobRow;
  const readState = async (id: string) => (await store.find(id))?.state ?? null;

  beforeEach(() => {
    store = use();
  });

  test('stores a job with each text byte for byte, and its body in parts', async () => {
    const facts = '{"a": "é\\u0000\\"🙂"}';
    const body = [Buffer.from([0, 255, 1]), Buffer.from('é')];
    const { body: _, name: __, callback: ___, ...shown } = buildJob({ facts, body });
    const row = {
      ...shown,
      state: 'queued',
      bodyParts: 2,
      attempt: null,
      isCancelled: false,
      records: null,
      bytes: 0,
      parts: 0,
      status: null,
      headers: null,
      startedAt: null,
      endedAt: null,
    };
    expect(await add({ facts, body })).toEqual(row);
    expect(await store.find('a')).toEqual(row);
    for (const [number, bytes] of body.entries())
      expect(Buffer.from((await store.readPart('a', '', number))!)).toEqual(bytes);
    expect(await store.readPart('a', '', 2)).toBeNull();
    for (const id of ['', 'A', 'a ', "a' OR '1'='1", 'a\0']) expect(await store.find(id)).toBeNull();
  });

  test('a request with the name of an earlier one gets the job of that one', async () => {
    await add({ name: 'n' });
    expect(await add({ id: 'b', name: 'n', fingerprint: 'other' })).toMatchObject({
      id: 'a',
      fingerprint: 'f',
    });
    expect(await store.find('b')).toBeNull();
    const rows = await Promise.all(['c', 'd', 'e'].map((id) => add({ id, name: 'at once' })));
    expect(new Set(rows.map((row) => (row as JobRow).id)).size).toBe(1);
  });

  test('bounds the jobs of a client, those that have not ended, and their bytes', async () => {
    await add({ id: 'a' });
    expect(await add({ id: 'b' }, { clientMax: 1 })).toBe('client_full');
    expect(await add({ id: 'b', client: 'two' }, { clientMax: 1, waitingMax: 1 })).toBe('full');
    expect(await add({ id: 'b' }, { bytesMax: 4 })).toBe('bytes_full');
    await claim('1');
    await store.end('a', '1', END, TIME);
    expect(await add({ id: 'b' }, { clientMax: 1 })).toBe('client_full');
    expect(await add({ id: 'b' }, { waitingMax: 1, bytesMax: 4 + END.bytes })).toBe('bytes_full');
    expect(await add({ id: 'b' }, { waitingMax: 1, bytesMax: 5 + END.bytes })).toMatchObject({ id: 'b' });
  });

  test('lists the newest first, of a state and of a client', async () => {
    await add({ id: 'b', createdAt: 2000 });
    await add({ id: 'a', createdAt: 1000 });
    await add({ id: 'c', createdAt: 2000, client: 'two' });
    const list = async (more: object) =>
      (await store.list({ after: null, limit: 10, ...more })).map(({ id }) => id);
    expect(await list({})).toEqual(['c', 'b', 'a']);
    expect(await list({ limit: 1, after: { createdAt: 2000, id: 'c' } })).toEqual(['b']);
    expect(await list({ client: 'one' })).toEqual(['b', 'a']);
    await store.cancel('b', null, TIME);
    expect(await list({ state: 'queued' })).toEqual(['c', 'a']);
  });

  test('gives each job to one attempt, the one that waits longest first', async () => {
    expect(await store.look()).toEqual({ isDue: false, isLost: false });
    expect(await claim('1')).toBeNull();
    await add({ id: 'a' });
    await pause();
    await add({ id: 'b' });
    expect(await store.look()).toEqual({ isDue: true, isLost: false });
    expect(await claim('1')).toMatchObject({ id: 'a', state: 'running', attempt: '1', startedAt: AT });
    const claimed = await Promise.all(['2', '3', '4'].map((attempt) => claim(attempt)));
    expect(claimed.filter((row) => row !== null)).toMatchObject([{ id: 'b' }]);
    expect(await store.count()).toEqual({ queued: 0, running: 2, bytes: 8 });
  });

  test('runs no more jobs of a client at once than allowed, and lets others pass', async () => {
    for (const id of ['a', 'b', 'c']) await add({ id });
    await add({ id: 'd', client: 'two' });
    expect(await claim('1', ENDLESS_MS, 2)).toMatchObject({ client: 'one' });
    expect(await claim('2', ENDLESS_MS, 2)).toMatchObject({ client: 'one' });
    expect(await claim('3', ENDLESS_MS, 2)).toMatchObject({ id: 'd' });
    expect(await claim('4', ENDLESS_MS, 2)).toBeNull();
  });

  test('only the attempt that has the job can renew, mark and end it', async () => {
    await add();
    await claim('1');
    const progress = { records: 5, bytes: 10 };
    expect(await store.renew('a', '2', ENDLESS_MS, progress)).toBeNull();
    expect(await store.markSent('a', '2')).toBe(false);
    expect(await store.end('a', '2', END, TIME)).toBe(false);
    expect(await store.release('a', '2', 0, TIME)).toBe(false);
    expect(await store.renew('a', '1', ENDLESS_MS, progress)).toEqual({ isCancelled: false, bytes: 14 });
    expect(await find('a')).toMatchObject(progress);
    expect(await store.end('a', '1', END, TIME)).toBe(true);
    expect(await find('a')).toMatchObject({ ...END, attempt: '1', endedAt: AT });
    expect(await store.end('a', '1', END, TIME)).toBe(false);
    expect(await store.renew('a', '1', ENDLESS_MS, progress)).toBeNull();
    expect(await store.markSent('a', '1')).toBe(false);
  });

  test('a job whose attempt has lost its time waits again, and is unknown after a write was sent', async () => {
    await add({ id: 'read' });
    expect(await claim('1', LOST_MS)).toMatchObject({ id: 'read' });
    expect(await store.look()).toEqual({ isDue: false, isLost: true });
    expect(await store.recover(RECOVERY)).toBe(1);
    expect(await find('read')).toMatchObject({ state: 'queued', endedAt: null });
    expect(await store.markSent('read', '1')).toBe(false);
    expect(await store.end('read', '1', END, TIME)).toBe(false);
    expect(await claim('2')).toMatchObject({ id: 'read', startedAt: AT });
    expect(await store.markSent('read', '2')).toBe(true);
    expect(await store.recover(RECOVERY)).toBe(0);
    expect(await store.renew('read', '2', LOST_MS, { records: null, bytes: 0 })).not.toBeNull();
    expect(await store.recover(RECOVERY)).toBe(1);
    expect(await find('read')).toMatchObject({ state: 'unknown', endedAt: AT });
    expect(await claim('3')).toBeNull();
  });

  test('an attempt that has lost its time marks no write as sent', async () => {
    await add();
    await claim('1', LOST_MS);
    expect(await store.markSent('a', '1')).toBe(false);
  });

  test('a job whose write was surely not run waits again', async () => {
    await add();
    await claim('1');
    expect(await store.markSent('a', '1')).toBe(true);
    await store.markUnsent('a', '1');
    await store.renew('a', '1', LOST_MS, { records: null, bytes: 0 });
    await store.recover(RECOVERY);
    expect(await readState('a')).toBe('queued');
  });

  test('a job that has ended its process too often fails', async () => {
    await add();
    await claim('1', LOST_MS);
    await store.recover({ ...RECOVERY, lostMax: 1 });
    expect(await readState('a')).toBe('failed');
  });

  test('a job that is released waits for its time', async () => {
    await add();
    await claim('1');
    expect(await store.release('a', '1', ENDLESS_MS, TIME)).toBe(true);
    expect(await readState('a')).toBe('queued');
    expect(await claim('2')).toBeNull();
  });

  test('cancels a job that waits, marks one that runs, and leaves one that has ended', async () => {
    for (const id of ['waits', 'runs', 'ended']) await add({ id });
    await claim('1');
    await claim('2');
    const running = (await store.list({ after: null, limit: 3, state: 'running' })).map(({ id }) => id);
    const [runs, ended] = running as [string, string];
    const waits = ['waits', 'runs', 'ended'].find((id) => !running.includes(id))!;
    await store.end(ended, (await find(ended)).attempt!, END, TIME);
    expect(await store.cancel('missing', 'one', TIME)).toBeNull();
    expect(await store.cancel(waits, 'two', TIME)).toBeNull();
    expect(await readState(waits)).toBe('queued');
    expect(await store.cancel(waits, 'one', TIME)).toMatchObject({ state: 'cancelled', endedAt: AT });
    expect(await store.cancel(runs, null, TIME)).toMatchObject({ state: 'running', isCancelled: true });
    expect(await store.cancel(ended, 'one', TIME)).toMatchObject({ state: 'done', isCancelled: false });
    const { attempt } = await find(runs);
    expect(await store.markSent(runs, attempt!)).toBe(false);
    expect(await store.renew(runs, attempt!, ENDLESS_MS, { records: null, bytes: 0 })).toMatchObject({
      isCancelled: true,
    });
    expect(await store.release(runs, attempt!, 0, TIME)).toBe(true);
    expect(await find(runs)).toMatchObject({ state: 'cancelled', endedAt: AT });
  });

  test('keeps the parts of the attempts that are named, and removes the others', async () => {
    await add();
    for (const [attempt, number] of [['1', 0] as const, ['1', 1] as const, ['2', 0] as const])
      await store.addPart('a', attempt, number, Buffer.from(`${attempt} ${number}`));
    expect(await store.dropParts('a', ['', '2'], 1)).toBe(1);
    expect(await store.dropParts('a', ['', '2'], 10)).toBe(1);
    expect(await store.dropParts('a', ['', '2'], 10)).toBe(0);
    expect(String(Buffer.from((await store.readPart('a', '2', 0))!))).toBe('2 0');
    expect(await store.readPart('a', '', 0)).not.toBeNull();
  });

  test('removes jobs whose time is over, with their parts', async () => {
    await add();
    await add({ id: 'b' });
    await store.cancel('a', null, { now: AT, keepMs: LOST_MS });
    while (await store.prune());
    expect(await store.find('a')).toBeNull();
    expect(await store.readPart('a', '', 0)).toBeNull();
    expect(await store.find('b')).not.toBeNull();
  });

  test('in any order of events, a write is sent by one attempt at most, and each job ends once', async () => {
    const event = fc.record({
      kind: fc.constantFrom('claim', 'send', 'die', 'end', 'release', 'cancel', 'recover'),
      job: fc.nat({ max: 3 }),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const prefix = `${round++} `;
        const ids = [0, 1, 2, 3].map((number) => prefix + number);
        for (const id of ids) await add({ id }, { clientMax: 1e6, waitingMax: 1e6 });
        const held = new Map<string, string>();
        const sentBy = new Map<string, Set<string>>();
        const ended = new Map<string, string>();
        let attempts = 0;
        for (const { kind, job } of events) {
          const id = ids[job]!;
          const attempt = held.get(id) ?? 'none';
          if (kind === 'claim') {
            const name = `${prefix}${attempts++}`;
            const row = await claim(name);
            if (row !== null && ids.includes(row.id)) held.set(row.id, name);
          } else if (kind === 'send') {
            if (await store.markSent(id, attempt)) sentBy.set(id, (sentBy.get(id) ?? new Set()).add(attempt));
          } else if (kind === 'die') {
            await store.renew(id, attempt, LOST_MS, { records: null, bytes: 0 });
          } else if (kind === 'end') {
            await store.end(id, attempt, END, TIME);
          } else if (kind === 'release') {
            if (!sentBy.has(id)) await store.release(id, attempt, 0, TIME);
          } else if (kind === 'cancel') {
            await store.cancel(id, null, TIME);
          } else {
            await store.recover({ ...RECOVERY, lostMax: 1e6 });
          }
          for (const one of ids) {
            const state = (await readState(one))!;
            const before = ended.get(one);
            if (before !== undefined) expect(state).toBe(before);
            else if (state !== 'queued' && state !== 'running') ended.set(one, state);
          }
        }
        for (const attemptsOfJob of sentBy.values()) expect(attemptsOfJob.size).toBe(1);
        for (const id of ids) await store.cancel(id, null, { now: AT, keepMs: LOST_MS });
      }),
      { numRuns: countCases(15) },
    );
  });
}

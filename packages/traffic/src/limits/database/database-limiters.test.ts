import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createTestLimiters,
  DATABASE,
  expectPermit,
  type TestLimiters,
} from './database-limiters.fixture.ts';
import type { Permit, PermitRefusal } from './database-limiters.ts';

/** Waits until all pending promises have settled, except calls that wait for a permit. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function watch(outcome: Permit | PermitRefusal | Promise<Permit | PermitRefusal>): {
  outcome: Permit | PermitRefusal | null;
} {
  const seen: { outcome: Permit | PermitRefusal | null } = { outcome: null };
  Promise.resolve(outcome).then((settled) => {
    seen.outcome = settled;
  });
  return seen;
}

describe('the concurrency limit', () => {
  test('gives a permit at once while there is room, and to the next call when one is released', async () => {
    const { databaseLimiters, acquire } = createTestLimiters();
    const first = expectPermit(acquire());
    expectPermit(acquire());
    const third = acquire();
    expect(third).toBeInstanceOf(Promise);
    expect(databaseLimiters.states()).toMatchObject([
      { database: DATABASE, running: 2, waiting: 1, limit: 2 },
    ]);
    first.release('answered');
    expectPermit(await third).release('answered');
  });

  test('of one database does not affect another', () => {
    const { acquire } = createTestLimiters();
    for (let call = 0; call < 1000; call++) acquire({ database: 'hanging', client: `c${call}` });
    expectPermit(acquire({ database: 'other' }));
  });

  test('the bound of an instance applies to its own calls, within the concurrency limit', () => {
    const { acquire } = createTestLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    expectPermit(acquire({ bound: { instance: 'i', max: 2 } }));
    expectPermit(acquire());
    expectPermit(acquire());
    const other = createTestLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    expectPermit(other.acquire({ bound: { instance: 'i', max: 2 } }));
    expectPermit(other.acquire({ bound: { instance: 'i', max: 2 } }));
    expect(other.acquire({ bound: { instance: 'i', max: 2 } })).toBeInstanceOf(Promise);
    const high = createTestLimiters();
    expectPermit(high.acquire({ bound: { instance: 'i', max: 9 } }));
    expectPermit(high.acquire({ bound: { instance: 'i', max: 9 } }));
    expect(high.acquire({ bound: { instance: 'i', max: 9 } })).toBeInstanceOf(Promise);
  });

  test('the bound of an instance counts only its own calls', () => {
    const { acquire } = createTestLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    expectPermit(acquire());
    expectPermit(acquire({ bound: { instance: 'i', max: 1 } }));
    expectPermit(acquire({ bound: { instance: 'j', max: 1 } }));
    expect(acquire({ bound: { instance: 'i', max: 1 } })).toBeInstanceOf(Promise);
  });

  test('a call that waits for the bound of its instance blocks no others, also of its own client', async () => {
    const { databaseLimiters, acquire } = createTestLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const bound = { instance: 'i', max: 1 };
    const running = expectPermit(acquire({ bound }));
    const bounded = watch(acquire({ bound }));
    for (const client of ['a', 'b', 'c', 'd', 'e', 'h']) expectPermit(acquire({ client }));
    const last = expectPermit(acquire({ client: 'f', bound: { instance: 'j', max: 1 } }));
    const behind = watch(acquire({ client: 'g' }));
    expect(databaseLimiters.states()).toMatchObject([{ running: 8, waiting: 2 }]);
    last.release('answered');
    await settle();
    expect(bounded.outcome).toBeNull();
    expect(behind.outcome).toHaveProperty('release');
    running.release('answered');
    await settle();
    expect(bounded.outcome).toHaveProperty('release');
  });

  test('calls behind it run after a call that waited for its bound was cancelled', async () => {
    const { acquire } = createTestLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    const bound = { instance: 'i', max: 1 };
    const running = expectPermit(acquire({ client: 'b', bound }));
    const leaving = new AbortController();
    const bounded = watch(acquire({ bound, signal: leaving.signal }));
    const behind = watch(acquire({ client: 'c', bound }));
    await settle();
    expect([bounded.outcome, behind.outcome]).toEqual([null, null]);
    leaving.abort();
    await settle();
    expect(bounded.outcome).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(behind.outcome).toBeNull();
    running.release('answered');
    await settle();
    expect(behind.outcome).toHaveProperty('release');
  });

  test('a bound that the operator changes also applies to calls that already wait', async () => {
    const { acquire } = createTestLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const running = expectPermit(acquire({ bound: { instance: 'i', max: 1 } }));
    const early = Array.from({ length: 2 }, () => watch(acquire({ bound: { instance: 'i', max: 1 } })));
    const late = watch(acquire({ client: 'b', bound: { instance: 'i', max: 2 } }));
    await settle();
    expect([...early, late].map(({ outcome }) => outcome !== null)).toEqual([false, false, true]);
    running.release('answered');
    await settle();
    expect(early.map(({ outcome }) => outcome !== null)).toEqual([true, false]);
  });

  test('clients share the bound of an instance fairly, as they share the concurrency limit', async () => {
    const { acquire } = createTestLimiters({ concurrency: { initial: 2, min: 2, max: 2 } });
    const bound = { instance: 'i', max: 1 };
    const ofInstance = expectPermit(acquire({ client: 'busy', bound }));
    const free = expectPermit(acquire({ client: 'busy' }));
    const busy = Array.from({ length: 20 }, () => watch(acquire({ client: 'busy', bound })));
    const single = watch(acquire({ client: 'single', bound }));
    const other = watch(acquire({ client: 'other' }));
    const countBusy = () => busy.filter(({ outcome }) => outcome !== null).length;
    ofInstance.release('answered');
    await settle();
    expect([countBusy(), single.outcome !== null, other.outcome !== null]).toEqual([0, true, false]);
    free.release('answered');
    await settle();
    expect([countBusy(), other.outcome !== null]).toEqual([0, true]);
  });

  test('is halved when the server reports overload', () => {
    const { databaseLimiters, acquire } = createTestLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    const permits = Array.from({ length: 8 }, () => expectPermit(acquire()));
    for (const permit of permits) permit.release('overloaded');
    expect(databaseLimiters.states()).toMatchObject([{ limit: 4, breaker: 'closed' }]);
  });

  test('is halved when calls with enough time get no answer', () => {
    const { databaseLimiters, acquire, clock } = createTestLimiters({
      concurrency: { initial: 8, min: 1, max: 8 },
    });
    const permits = Array.from({ length: 4 }, () => expectPermit(acquire()));
    clock.nowMs += 15_000;
    for (const permit of permits) permit.release('timed_out');
    expect(databaseLimiters.states()).toMatchObject([{ limit: 4, breaker: 'closed' }]);
  });

  test('is not lowered by the time that this process itself adds to answers', () => {
    let ownDelayMs = 0;
    const concurrency = { initial: 8, min: 1, max: 8 };
    const { databaseLimiters, clock, acquire } = createTestLimiters({
      concurrency,
      ownDelayMs: () => ownDelayMs,
    });
    const limit = () => databaseLimiters.states()[0]?.limit ?? concurrency.initial;
    /**
     * Simulates a server on which up to `workers` calls take no longer than one. The delay by a busy process grows with
     * the number of calls.
     */
    const findLimit = (workers: number, addedMs: number) => {
      for (let round = 0; round < 50; round++) {
        const permits = Array.from({ length: limit() }, () => expectPermit(acquire()));
        ownDelayMs = addedMs * permits.length;
        clock.nowMs += 10 * Math.max(1, permits.length / workers) + ownDelayMs;
        for (const permit of permits) permit.release('answered');
      }
      return limit();
    };
    expect(findLimit(8, 0)).toBe(8);
    expect(findLimit(8, 20)).toBe(8);
    expect(findLimit(1, 20)).toBeLessThan(8);
  });

  test('a permit can be released only once', () => {
    const { acquire } = createTestLimiters();
    const permit = expectPermit(acquire());
    permit.release('answered');
    expect(() => permit.release('answered')).toThrow('released only once');
  });
});

describe('the share of a client', () => {
  const FIXED = { concurrency: { initial: 8, min: 8, max: 8 } };

  const countPermits = (outcomes: (Permit | PermitRefusal | Promise<Permit | PermitRefusal>)[]) =>
    outcomes.filter((outcome) => 'release' in outcome).length;

  const acquireMany = ({ acquire }: TestLimiters, times: number, client: string) =>
    Array.from({ length: times }, () => acquire({ client }));

  test('is all permits while no other client calls', () => {
    expect(countPermits(acquireMany(createTestLimiters(FIXED), 20, 'a'))).toBe(8);
  });

  test('is an equal part of the permits while others call', () => {
    const two = createTestLimiters(FIXED);
    two.runCall('answered', 10, { client: 'b' });
    expect(countPermits(acquireMany(two, 20, 'a'))).toBe(4);
    expect(countPermits(acquireMany(two, 20, 'b'))).toBe(4);
    const four = createTestLimiters(FIXED);
    for (const client of ['b', 'c', 'd']) expectPermit(four.acquire({ client }));
    expect(countPermits(acquireMany(four, 20, 'a'))).toBe(2);
  });

  test('is all permits again when the others have not called for ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const test = createTestLimiters(FIXED);
    test.runCall('answered', 10, { client: 'b' });
    const outcomes = acquireMany(test, 20, 'a').map(watch);
    await settle();
    const count = () => outcomes.filter(({ outcome }) => outcome !== null).length;
    expect(count()).toBe(4);
    test.clock.nowMs += 10_000;
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    await settle();
    expect(count()).toBe(8);
  });

  test('new clients exceed the limit by up to a quarter while another holds more than its share', () => {
    const test = createTestLimiters({ concurrency: { initial: 8, min: 2, max: 64 } });
    expect(countPermits(acquireMany(test, 20, 'a'))).toBe(8);
    expect(countPermits(['b', 'c', 'd', 'e'].map((client) => test.acquire({ client })))).toBe(2);
    expect(countPermits(acquireMany(test, 5, 'b'))).toBe(0);
  });

  test("permits beyond the limit stay within the operator's bound", () => {
    const test = createTestLimiters(FIXED);
    expect(countPermits(acquireMany(test, 20, 'a'))).toBe(8);
    expect(test.acquire({ client: 'b' })).toBeInstanceOf(Promise);
  });

  test('the limit is not exceeded while no client holds more than its share', () => {
    const test = createTestLimiters({ concurrency: { initial: 2, min: 2, max: 64 } });
    for (const client of ['a', 'b']) expectPermit(test.acquire({ client }));
    expect(test.acquire({ client: 'c' })).toBeInstanceOf(Promise);
  });

  test('does not prevent the limit from rising if the server has capacity', async () => {
    const test = createTestLimiters({ concurrency: { initial: 8, min: 2, max: 64 } });
    const { acquire, clock, databaseLimiters } = test;
    let running: Permit[] = [];
    const call = async () =>
      running.push(expectPermit(await acquire({ client: 'busy', deadlineMs: clock.nowMs + 1e9 })));
    for (let round = 0; round < 200; round++) {
      test.runCall('answered', 0, { client: 'other' });
      while ((databaseLimiters.states()[0]?.waiting ?? 0) < 50) void call();
      await settle();
      clock.nowMs += 10;
      const ended = running;
      running = [];
      for (const permit of ended) permit.release('answered');
      await settle();
    }
    expect(databaseLimiters.states()[0]?.limit).toBeGreaterThan(16);
  });
});

describe('the queue', () => {
  test('does not count calls that have ended', async () => {
    const { acquire, runCall } = createTestLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
    for (let call = 0; call < 100; call++) runCall('answered', 10, { client: 'old' });
    const running = expectPermit(acquire({ client: 'other' }));
    const old = watch(acquire({ client: 'old' }));
    const recent = watch(acquire({ client: 'recent' }));
    running.release('answered');
    await settle();
    expect(old.outcome).toHaveProperty('release');
    expect(recent.outcome).toBeNull();
  });

  test('delays a client with one call by at most one call of a client with 1,000', async () => {
    const { acquire, clock } = createTestLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
    const order: string[] = [];
    const call = async (client: string) => {
      const permit = expectPermit(await acquire({ client, deadlineMs: clock.nowMs + 1e9 }));
      order.push(client);
      clock.nowMs += 100;
      permit.release('answered');
    };
    const running = expectPermit(acquire({ client: 'busy' }));
    const calls = Array.from({ length: 999 }, () => call('busy'));
    calls.push(call('single'));
    running.release('answered');
    await Promise.all(calls);
    expect(order).toHaveLength(1000);
    expect(order.indexOf('single')).toBeLessThanOrEqual(1);
  });

  test('removes a call that is cancelled while it waits', async () => {
    const { databaseLimiters, acquire } = createTestLimiters();
    const permits = [expectPermit(acquire()), expectPermit(acquire())];
    const leaving = new AbortController();
    const waiting = acquire({ signal: leaving.signal });
    leaving.abort();
    expect(await waiting).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(acquire({ signal: leaving.signal })).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 0 }]);
    for (const permit of permits) permit.release('abandoned');
    expect(databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);
  });

  test('is bounded: one client may fill it, and its newest calls are evicted for calls of others', async () => {
    const { databaseLimiters, acquire } = createTestLimiters({ queueMax: 10 });
    for (let call = 0; call < 2; call++) acquire({ client: 'greedy' });
    const greedy = Array.from({ length: 10 }, () => watch(acquire({ client: 'greedy' })));
    expect(acquire({ client: 'greedy' })).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    const modest = Array.from({ length: 5 }, () => watch(acquire({ client: 'modest' })));
    expect(acquire({ client: 'modest' })).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    await settle();
    const refused = greedy.map(({ outcome }) => outcome !== null);
    expect(refused).toEqual([...Array(5).fill(false), ...Array(5).fill(true)]);
    expect(greedy.at(-1)?.outcome).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    expect(modest.every(({ outcome }) => outcome === null)).toBe(true);
    expect(databaseLimiters.states()).toMatchObject([{ waiting: 10 }]);
  });

  test('is also bounded for calls that wait for the bound of their instance', async () => {
    const { databaseLimiters, acquire } = createTestLimiters({
      concurrency: { initial: 8, min: 8, max: 8 },
      queueMax: 3,
    });
    const bound = { instance: 'i', max: 1 };
    expectPermit(acquire({ bound }));
    const waiting = Array.from({ length: 3 }, () => watch(acquire({ bound })));
    expect(acquire({ bound })).toMatchObject({ refused: 'queue_full' });
    const other = watch(acquire({ client: 'other', bound }));
    await settle();
    expect(waiting.map(({ outcome }) => outcome !== null)).toEqual([false, false, true]);
    expect(other.outcome).toBeNull();
    expectPermit(acquire({ client: 'free' }));
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 3 }]);
  });

  test('refuses at once if its size is 0', () => {
    const { acquire } = createTestLimiters({ queueMax: 0 });
    acquire();
    acquire();
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
  });
});

describe('the deadline', () => {
  /** Creates limiters at which at most two calls run at once, and an answer takes a second. */
  function createSlowLimiters() {
    const test = createTestLimiters();
    for (let call = 0; call < 20; call++) test.runCall('answered', 1000);
    return test;
  }

  test('refuses a call at once if its permit would come too late, and gives a time to retry', () => {
    const { acquire, clock } = createSlowLimiters();
    acquire();
    acquire();
    // A permit is free every half second, and an answer takes a second.
    const deadlineMs = clock.nowMs + 15_100;
    for (let ahead = 0; ahead < 28; ahead++) expect(acquire({ deadlineMs })).toBeInstanceOf(Promise);
    expect(acquire({ deadlineMs })).toEqual({ refused: 'too_late', retryAfterSeconds: 14 });
  });

  test('counts only the calls that would run earlier in the fair order of clients', () => {
    const { acquire } = createSlowLimiters();
    for (let call = 0; call < 30; call++) acquire({ client: 'busy' });
    expect(acquire({ client: 'busy' })).toMatchObject({ refused: 'too_late' });
    expectPermit(acquire({ client: 'other' }));
    expect(acquire({ client: 'third' })).toBeInstanceOf(Promise);
  });

  test('counts calls that wait for the bound of an instance only for calls to that instance', () => {
    const { acquire } = createSlowLimiters();
    const bound = { instance: 'i', max: 1 };
    acquire({ bound });
    for (let call = 0; call < 13; call++) expect(acquire({ bound })).toBeInstanceOf(Promise);
    expect(acquire({ bound })).toMatchObject({ refused: 'too_late' });
    expectPermit(acquire());
    expect(acquire()).toBeInstanceOf(Promise);
  });

  test('refuses no call at once while the time of an answer is unknown', () => {
    const { acquire, clock } = createTestLimiters();
    for (let call = 0; call < 100; call++) acquire();
    expect(acquire({ deadlineMs: clock.nowMs + 1000 })).toBeInstanceOf(Promise);
  });

  test('refuses a call whose permit comes too late, and gives the permit to the next', async () => {
    const { acquire, clock } = createSlowLimiters();
    const permits = [expectPermit(acquire()), expectPermit(acquire())];
    const soon = watch(acquire({ deadlineMs: clock.nowMs + 3000 }));
    const late = watch(acquire({ deadlineMs: clock.nowMs + 30_000 }));
    clock.nowMs += 2500;
    permits[0]?.release('answered');
    await settle();
    expect(soon.outcome).toEqual({ refused: 'too_late', retryAfterSeconds: 1 });
    expect(late.outcome).toHaveProperty('release');
  });
});

describe('memory', () => {
  test('keeps a limited number of databases, those with knowledge of their server longest', () => {
    const { databaseLimiters, runCall } = createTestLimiters({ databasesMax: 10 });
    for (let call = 0; call < 10; call++) runCall('answered', 10, { database: 'real' });
    runCall('unreachable', 10, { database: 'down' });
    for (let name = 0; name < 1000; name++) runCall('abandoned', 1, { database: `made up ${name}` });
    const names = databaseLimiters.states().map(({ database }) => database);
    expect(names).toHaveLength(10);
    expect(names).toContain('real');
    expect(names).toContain('down');
  });

  test('a database with an open breaker can be dropped as well', () => {
    const { databaseLimiters, runCall, acquire } = createTestLimiters({ databasesMax: 10 });
    for (let call = 0; call < 5; call++) runCall('unreachable', 10, { database: 'down' });
    expect(acquire({ database: 'down' })).toMatchObject({ refused: 'breaker_open' });
    for (let name = 0; name < 10; name++)
      for (let call = 0; call < 10; call++) runCall('answered', 10, { database: `real ${name}` });
    expect(databaseLimiters.states().map(({ database }) => database)).toEqual(
      Array.from({ length: 10 }, (_, name) => `real ${name}`),
    );
  });

  test('databases with calls are never dropped, and those beyond the bound are dropped after their last call', () => {
    const { databaseLimiters, acquire } = createTestLimiters({ databasesMax: 10 });
    const permits = Array.from({ length: 50 }, (_, name) =>
      expectPermit(acquire({ database: `database ${name}` })),
    );
    expect(databaseLimiters.states()).toHaveLength(50);
    for (const permit of permits) permit.release('answered');
    expect(databaseLimiters.states()).toHaveLength(10);
  });
});

describe('a call whose deadline approaches while it waits', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Creates limiters whose clock advances together with the timers. */
  function createTimedLimiters() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const test = createTestLimiters();
    const advance = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        test.clock.nowMs += 10;
        vi.advanceTimersByTime(10);
      }
      await settle();
    };
    return { ...test, advance };
  }

  test('is refused at any position once an answer would come too late, before its deadline', async () => {
    const { acquire, runCall, clock, databaseLimiters, advance } = createTimedLimiters();
    for (let call = 0; call < 20; call++) runCall('answered', 1000);
    for (let call = 0; call < 2; call++) expectPermit(acquire({ deadlineMs: clock.nowMs + 60_000 }));
    const first = watch(acquire({ deadlineMs: clock.nowMs + 30_000 }));
    const late = watch(acquire({ deadlineMs: clock.nowMs + 5000 }));
    await advance(3900);
    expect(late.outcome).toBeNull();
    await advance(200);
    expect(late.outcome).toEqual({ refused: 'too_late', retryAfterSeconds: 1 });
    expect(first.outcome).toBeNull();
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 1 }]);
  });

  test('stays if another reader of a shared call extends its deadline', async () => {
    const { acquire, clock, advance } = createTimedLimiters();
    const permits = [expectPermit(acquire()), expectPermit(acquire())];
    const request = { deadlineMs: clock.nowMs + 1000 };
    const shared = watch(
      acquire({
        get deadlineMs() {
          return request.deadlineMs;
        },
      }),
    );
    request.deadlineMs += 5000;
    await advance(3000);
    expect(shared.outcome).toBeNull();
    permits[0]?.release('answered');
    await settle();
    expect(shared.outcome).toHaveProperty('release');
  });

  test('is refused if answers now take longer than the time it has left', async () => {
    const { acquire, clock } = createTestLimiters({ concurrency: { initial: 12, min: 12, max: 12 } });
    const deadlineMs = clock.nowMs + 60_000;
    const bound = { instance: 'i', max: 1 };
    const permits = Array.from({ length: 11 }, () => expectPermit(acquire({ deadlineMs })));
    expectPermit(acquire({ deadlineMs, bound }));
    const late = watch(acquire({ deadlineMs: clock.nowMs + 12_000, bound }));
    const patient = watch(acquire({ deadlineMs, bound }));
    clock.nowMs += 8000;
    for (const permit of permits) permit.release('answered');
    expectPermit(acquire()).release('answered');
    await settle();
    expect(late.outcome).toMatchObject({ refused: 'too_late' });
    expect(patient.outcome).toBeNull();
  });
});

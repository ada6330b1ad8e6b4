import { afterEach, describe, expect, test, vi } from 'vitest';
import { DATABASE, expectPermit, type LimitersTest, openLimiters } from './database-limiters.fixture.ts';
import type { Permit, Refusal } from './database-limiters.ts';

/** Lets everything happen that does not wait for a turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function watch(outcome: Permit | Refusal | Promise<Permit | Refusal>): { outcome: Permit | Refusal | null } {
  const seen: { outcome: Permit | Refusal | null } = { outcome: null };
  Promise.resolve(outcome).then((settled) => {
    seen.outcome = settled;
  });
  return seen;
}

describe('the limit', () => {
  test('lets in at once while there is room, and the next when one leaves', async () => {
    const { gate, visit } = openLimiters();
    const first = expectPermit(visit());
    expectPermit(visit());
    const third = visit();
    expect(third).toBeInstanceOf(Promise);
    expect(gate.states()).toMatchObject([{ database: DATABASE, running: 2, waiting: 1, limit: 2 }]);
    first.leave('answered');
    expectPermit(await third).leave('answered');
  });

  test('of one database does not touch another', () => {
    const { visit } = openLimiters();
    for (let call = 0; call < 1000; call++) visit({ database: 'hanging', client: `c${call}` });
    expectPermit(visit({ database: 'other' }));
  });

  test('the bound of an instance holds for its own calls, below the level', () => {
    const { visit } = openLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    expectPermit(visit({ bound: { instance: 'i', max: 2 } }));
    expectPermit(visit());
    expectPermit(visit());
    const other = openLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    expectPermit(other.visit({ bound: { instance: 'i', max: 2 } }));
    expectPermit(other.visit({ bound: { instance: 'i', max: 2 } }));
    expect(other.visit({ bound: { instance: 'i', max: 2 } })).toBeInstanceOf(Promise);
    const high = openLimiters();
    expectPermit(high.visit({ bound: { instance: 'i', max: 9 } }));
    expectPermit(high.visit({ bound: { instance: 'i', max: 9 } }));
    expect(high.visit({ bound: { instance: 'i', max: 9 } })).toBeInstanceOf(Promise);
  });

  test('the bound of an instance counts its calls alone', () => {
    const { visit } = openLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    expectPermit(visit());
    expectPermit(visit({ bound: { instance: 'i', max: 1 } }));
    expectPermit(visit({ bound: { instance: 'j', max: 1 } }));
    expect(visit({ bound: { instance: 'i', max: 1 } })).toBeInstanceOf(Promise);
  });

  test('one that waits for its own bound holds up nobody else, neither of other clients nor of its own', async () => {
    const { gate, visit } = openLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const bound = { instance: 'i', max: 1 };
    const running = expectPermit(visit({ bound }));
    const bounded = watch(visit({ bound }));
    for (const client of ['a', 'b', 'c', 'd', 'e', 'h']) expectPermit(visit({ client }));
    const last = expectPermit(visit({ client: 'f', bound: { instance: 'j', max: 1 } }));
    const behind = watch(visit({ client: 'g' }));
    expect(gate.states()).toMatchObject([{ running: 8, waiting: 2 }]);
    last.leave('answered');
    await settle();
    expect(bounded.outcome).toBeNull();
    expect(behind.outcome).toHaveProperty('leave');
    running.leave('answered');
    await settle();
    expect(bounded.outcome).toHaveProperty('leave');
  });

  test('one that waits for its own bound and leaves lets those behind it go', async () => {
    const { visit } = openLimiters({ concurrency: { initial: 3, min: 1, max: 3 } });
    const bound = { instance: 'i', max: 1 };
    const running = expectPermit(visit({ client: 'b', bound }));
    const leaving = new AbortController();
    const bounded = watch(visit({ bound, signal: leaving.signal }));
    const behind = watch(visit({ client: 'c', bound }));
    await settle();
    expect([bounded.outcome, behind.outcome]).toEqual([null, null]);
    leaving.abort();
    await settle();
    expect(bounded.outcome).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(behind.outcome).toBeNull();
    running.leave('answered');
    await settle();
    expect(behind.outcome).toHaveProperty('leave');
  });

  test('a bound that the operator changes holds for those too that wait already', async () => {
    const { visit } = openLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const running = expectPermit(visit({ bound: { instance: 'i', max: 1 } }));
    const early = Array.from({ length: 2 }, () => watch(visit({ bound: { instance: 'i', max: 1 } })));
    const late = watch(visit({ client: 'b', bound: { instance: 'i', max: 2 } }));
    await settle();
    expect([...early, late].map(({ outcome }) => outcome !== null)).toEqual([false, false, true]);
    running.leave('answered');
    await settle();
    expect(early.map(({ outcome }) => outcome !== null)).toEqual([true, false]);
  });

  test('clients take turns for the places of one instance as well, and those of an instance with others', async () => {
    const { visit } = openLimiters({ concurrency: { initial: 2, min: 2, max: 2 } });
    const bound = { instance: 'i', max: 1 };
    const ofInstance = expectPermit(visit({ client: 'busy', bound }));
    const free = expectPermit(visit({ client: 'busy' }));
    const busy = Array.from({ length: 20 }, () => watch(visit({ client: 'busy', bound })));
    const single = watch(visit({ client: 'single', bound }));
    const other = watch(visit({ client: 'other' }));
    const countBusy = () => busy.filter(({ outcome }) => outcome !== null).length;
    ofInstance.leave('answered');
    await settle();
    expect([countBusy(), single.outcome !== null, other.outcome !== null]).toEqual([0, true, false]);
    free.leave('answered');
    await settle();
    expect([countBusy(), other.outcome !== null]).toEqual([0, true]);
  });

  test('halves when the server says that it is too much', () => {
    const { gate, visit } = openLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    const turns = Array.from({ length: 8 }, () => expectPermit(visit()));
    for (const turn of turns) turn.leave('overloaded');
    expect(gate.states()).toMatchObject([{ limit: 4, breaker: 'closed' }]);
  });

  test('halves when calls that had their time get no answer', () => {
    const { gate, visit, clock } = openLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    const turns = Array.from({ length: 4 }, () => expectPermit(visit()));
    clock.nowMs += 15_000;
    for (const turn of turns) turn.leave('timed_out');
    expect(gate.states()).toMatchObject([{ limit: 4, breaker: 'closed' }]);
  });

  test('does not sink by what this process itself adds to the time of an answer', () => {
    let ownDelayMs = 0;
    const concurrency = { initial: 8, min: 1, max: 8 };
    const { gate, clock, visit } = openLimiters({ concurrency, ownDelayMs: () => ownDelayMs });
    const limit = () => gate.states()[0]?.limit ?? concurrency.initial;
    /** So many calls at once take no longer than one; what a busy process adds grows with the calls. */
    const findLevel = (workers: number, addedMs: number) => {
      for (let round = 0; round < 50; round++) {
        const turns = Array.from({ length: limit() }, () => expectPermit(visit()));
        ownDelayMs = addedMs * turns.length;
        clock.nowMs += 10 * Math.max(1, turns.length / workers) + ownDelayMs;
        for (const turn of turns) turn.leave('answered');
      }
      return limit();
    };
    expect(findLevel(8, 0)).toBe(8);
    expect(findLevel(8, 20)).toBe(8);
    expect(findLevel(1, 20)).toBeLessThan(8);
  });

  test('a turn is left once', () => {
    const { visit } = openLimiters();
    const turn = expectPermit(visit());
    turn.leave('answered');
    expect(() => turn.leave('answered')).toThrow('left once');
  });
});

describe('the share of a client', () => {
  const FIXED = { concurrency: { initial: 8, min: 8, max: 8 } };

  const countTurns = (outcomes: (Permit | Refusal | Promise<Permit | Refusal>)[]) =>
    outcomes.filter((outcome) => 'leave' in outcome).length;

  const visitTimes = ({ visit }: LimitersTest, times: number, client: string) =>
    Array.from({ length: times }, () => visit({ client }));

  test('is all turns while nobody else calls', () => {
    expect(countTurns(visitTimes(openLimiters(FIXED), 20, 'a'))).toBe(8);
  });

  test('is an equal part of them while others call', () => {
    const two = openLimiters(FIXED);
    two.pass('answered', 10, { client: 'b' });
    expect(countTurns(visitTimes(two, 20, 'a'))).toBe(4);
    expect(countTurns(visitTimes(two, 20, 'b'))).toBe(4);
    const four = openLimiters(FIXED);
    for (const client of ['b', 'c', 'd']) expectPermit(four.visit({ client }));
    expect(countTurns(visitTimes(four, 20, 'a'))).toBe(2);
  });

  test('is all of them again when the others have not called for ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const test = openLimiters(FIXED);
    test.pass('answered', 10, { client: 'b' });
    const outcomes = visitTimes(test, 20, 'a').map(watch);
    await settle();
    const count = () => outcomes.filter(({ outcome }) => outcome !== null).length;
    expect(count()).toBe(4);
    test.clock.nowMs += 10_000;
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    await settle();
    expect(count()).toBe(8);
  });

  test('clients that come while another holds more than its share get turns beyond the level, a quarter of it at most', () => {
    const test = openLimiters({ concurrency: { initial: 8, min: 2, max: 64 } });
    expect(countTurns(visitTimes(test, 20, 'a'))).toBe(8);
    expect(countTurns(['b', 'c', 'd', 'e'].map((client) => test.visit({ client })))).toBe(2);
    expect(countTurns(visitTimes(test, 5, 'b'))).toBe(0);
  });

  test("turns beyond the level stay within the operator's bound", () => {
    const test = openLimiters(FIXED);
    expect(countTurns(visitTimes(test, 20, 'a'))).toBe(8);
    expect(test.visit({ client: 'b' })).toBeInstanceOf(Promise);
  });

  test('no turn beyond the level is given where all hold no more than their share', () => {
    const test = openLimiters({ concurrency: { initial: 2, min: 2, max: 64 } });
    for (const client of ['a', 'b']) expectPermit(test.visit({ client }));
    expect(test.visit({ client: 'c' })).toBeInstanceOf(Promise);
  });

  test('does not keep the level from rising where the server bears more', async () => {
    const test = openLimiters({ concurrency: { initial: 8, min: 2, max: 64 } });
    const { visit, clock, gate } = test;
    let running: Permit[] = [];
    const call = async () =>
      running.push(expectPermit(await visit({ client: 'busy', deadlineMs: clock.nowMs + 1e9 })));
    for (let round = 0; round < 200; round++) {
      test.pass('answered', 0, { client: 'other' });
      while ((gate.states()[0]?.waiting ?? 0) < 50) void call();
      await settle();
      clock.nowMs += 10;
      const ended = running;
      running = [];
      for (const turn of ended) turn.leave('answered');
      await settle();
    }
    expect(gate.states()[0]?.limit).toBeGreaterThan(16);
  });
});

describe('waiting', () => {
  test('calls that have ended are not held against their client', async () => {
    const { visit, pass } = openLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
    for (let call = 0; call < 100; call++) pass('answered', 10, { client: 'old' });
    const running = expectPermit(visit({ client: 'other' }));
    const old = watch(visit({ client: 'old' }));
    const recent = watch(visit({ client: 'recent' }));
    running.leave('answered');
    await settle();
    expect(old.outcome).toHaveProperty('leave');
    expect(recent.outcome).toBeNull();
  });

  test('a client with 1,000 calls waiting does not delay a client with one by more than one call', async () => {
    const { visit, clock } = openLimiters({ concurrency: { initial: 1, min: 1, max: 1 } });
    const order: string[] = [];
    const call = async (client: string) => {
      const turn = expectPermit(await visit({ client, deadlineMs: clock.nowMs + 1e9 }));
      order.push(client);
      clock.nowMs += 100;
      turn.leave('answered');
    };
    const running = expectPermit(visit({ client: 'busy' }));
    const calls = Array.from({ length: 999 }, () => call('busy'));
    calls.push(call('single'));
    running.leave('answered');
    await Promise.all(calls);
    expect(order).toHaveLength(1000);
    expect(order.indexOf('single')).toBeLessThanOrEqual(1);
  });

  test('one that leaves while it waits is forgotten', async () => {
    const { gate, visit } = openLimiters();
    const turns = [expectPermit(visit()), expectPermit(visit())];
    const leaving = new AbortController();
    const waiting = visit({ signal: leaving.signal });
    leaving.abort();
    expect(await waiting).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(visit({ signal: leaving.signal })).toEqual({ refused: 'ended', retryAfterSeconds: 1 });
    expect(gate.states()).toMatchObject([{ running: 2, waiting: 0 }]);
    for (const turn of turns) turn.leave('abandoned');
    expect(gate.states()).toMatchObject([{ running: 0, waiting: 0 }]);
  });

  test('is bounded: one client may fill the queue, and makes room for others with its newest calls', async () => {
    const { gate, visit } = openLimiters({ queueMax: 10 });
    for (let call = 0; call < 2; call++) visit({ client: 'greedy' });
    const greedy = Array.from({ length: 10 }, () => watch(visit({ client: 'greedy' })));
    expect(visit({ client: 'greedy' })).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    const modest = Array.from({ length: 5 }, () => watch(visit({ client: 'modest' })));
    expect(visit({ client: 'modest' })).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    await settle();
    const refused = greedy.map(({ outcome }) => outcome !== null);
    expect(refused).toEqual([...Array(5).fill(false), ...Array(5).fill(true)]);
    expect(greedy.at(-1)?.outcome).toEqual({ refused: 'queue_full', retryAfterSeconds: 1 });
    expect(modest.every(({ outcome }) => outcome === null)).toBe(true);
    expect(gate.states()).toMatchObject([{ waiting: 10 }]);
  });

  test('is bounded for those too that wait for the bound of their instance', async () => {
    const { gate, visit } = openLimiters({ concurrency: { initial: 8, min: 8, max: 8 }, queueMax: 3 });
    const bound = { instance: 'i', max: 1 };
    expectPermit(visit({ bound }));
    const waiting = Array.from({ length: 3 }, () => watch(visit({ bound })));
    expect(visit({ bound })).toMatchObject({ refused: 'queue_full' });
    const other = watch(visit({ client: 'other', bound }));
    await settle();
    expect(waiting.map(({ outcome }) => outcome !== null)).toEqual([false, false, true]);
    expect(other.outcome).toBeNull();
    expectPermit(visit({ client: 'free' }));
    expect(gate.states()).toMatchObject([{ running: 2, waiting: 3 }]);
  });

  test('a queue of no places refuses at once', () => {
    const { visit } = openLimiters({ queueMax: 0 });
    visit();
    visit();
    expect(visit()).toMatchObject({ refused: 'queue_full' });
  });
});

describe('the deadline', () => {
  /** Two at once, and an answer takes a second. */
  function openSlowLimiters() {
    const test = openLimiters();
    for (let call = 0; call < 20; call++) test.pass('answered', 1000);
    return test;
  }

  test('refuses at the door a call that would have its turn too late, and says when to come again', () => {
    const { visit, clock } = openSlowLimiters();
    visit();
    visit();
    // A turn each half second, and a second to be answered.
    const deadlineMs = clock.nowMs + 15_100;
    for (let ahead = 0; ahead < 28; ahead++) expect(visit({ deadlineMs })).toBeInstanceOf(Promise);
    expect(visit({ deadlineMs })).toEqual({ refused: 'too_late', retryAfterSeconds: 14 });
  });

  test("counts only what is before a call in its client's fair turn", () => {
    const { visit } = openSlowLimiters();
    for (let call = 0; call < 30; call++) visit({ client: 'busy' });
    expect(visit({ client: 'busy' })).toMatchObject({ refused: 'too_late' });
    expectPermit(visit({ client: 'other' }));
    expect(visit({ client: 'third' })).toBeInstanceOf(Promise);
  });

  test('counts calls that wait for the bound of an instance against calls of that instance alone', () => {
    const { visit } = openSlowLimiters();
    const bound = { instance: 'i', max: 1 };
    visit({ bound });
    for (let call = 0; call < 13; call++) expect(visit({ bound })).toBeInstanceOf(Promise);
    expect(visit({ bound })).toMatchObject({ refused: 'too_late' });
    expectPermit(visit());
    expect(visit()).toBeInstanceOf(Promise);
  });

  test('refuses nothing at the door while it is not known how long an answer takes', () => {
    const { visit, clock } = openLimiters();
    for (let call = 0; call < 100; call++) visit();
    expect(visit({ deadlineMs: clock.nowMs + 1000 })).toBeInstanceOf(Promise);
  });

  test('drops a call whose turn comes too late, and gives the turn to the next', async () => {
    const { visit, clock } = openSlowLimiters();
    const turns = [expectPermit(visit()), expectPermit(visit())];
    const soon = watch(visit({ deadlineMs: clock.nowMs + 3000 }));
    const late = watch(visit({ deadlineMs: clock.nowMs + 30_000 }));
    clock.nowMs += 2500;
    turns[0]?.leave('answered');
    await settle();
    expect(soon.outcome).toEqual({ refused: 'too_late', retryAfterSeconds: 1 });
    expect(late.outcome).toHaveProperty('leave');
  });
});

describe('memory', () => {
  test('keeps so many databases, those that it learnt something of for longest', () => {
    const { gate, pass } = openLimiters({ databasesMax: 10 });
    for (let call = 0; call < 10; call++) pass('answered', 10, { database: 'real' });
    pass('unreachable', 10, { database: 'down' });
    for (let name = 0; name < 1000; name++) pass('abandoned', 1, { database: `made up ${name}` });
    const names = gate.states().map(({ database }) => database);
    expect(names).toHaveLength(10);
    expect(names).toContain('real');
    expect(names).toContain('down');
  });

  test('one whose breaker refuses calls can be forgotten as well', () => {
    const { gate, pass, visit } = openLimiters({ databasesMax: 10 });
    for (let call = 0; call < 5; call++) pass('unreachable', 10, { database: 'down' });
    expect(visit({ database: 'down' })).toMatchObject({ refused: 'breaker_open' });
    for (let name = 0; name < 10; name++)
      for (let call = 0; call < 10; call++) pass('answered', 10, { database: `real ${name}` });
    expect(gate.states().map(({ database }) => database)).toEqual(
      Array.from({ length: 10 }, (_, name) => `real ${name}`),
    );
  });

  test('databases with calls are never forgotten, and those beyond the bound go with their last call', () => {
    const { gate, visit } = openLimiters({ databasesMax: 10 });
    const turns = Array.from({ length: 50 }, (_, name) =>
      expectPermit(visit({ database: `database ${name}` })),
    );
    expect(gate.states()).toHaveLength(50);
    for (const turn of turns) turn.leave('answered');
    expect(gate.states()).toHaveLength(10);
  });
});

describe('a call whose time runs out while it waits', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The clock of the gate goes with the timers. */
  function openTimedLimiters() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const test = openLimiters();
    const advance = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        test.clock.nowMs += 10;
        vi.advanceTimersByTime(10);
      }
      await settle();
    };
    return { ...test, advance };
  }

  test('leaves wherever it stands once an answer would come too late, before its time is over', async () => {
    const { visit, pass, clock, gate, advance } = openTimedLimiters();
    for (let call = 0; call < 20; call++) pass('answered', 1000);
    for (let call = 0; call < 2; call++) expectPermit(visit({ deadlineMs: clock.nowMs + 60_000 }));
    const first = watch(visit({ deadlineMs: clock.nowMs + 30_000 }));
    const late = watch(visit({ deadlineMs: clock.nowMs + 5000 }));
    await advance(3900);
    expect(late.outcome).toBeNull();
    await advance(200);
    expect(late.outcome).toEqual({ refused: 'too_late', retryAfterSeconds: 1 });
    expect(first.outcome).toBeNull();
    expect(gate.states()).toMatchObject([{ running: 2, waiting: 1 }]);
  });

  test('stays where a reader that shares it brings it more time', async () => {
    const { visit, clock, advance } = openTimedLimiters();
    const turns = [expectPermit(visit()), expectPermit(visit())];
    const visitor = { deadlineMs: clock.nowMs + 1000 };
    const shared = watch(
      visit({
        get deadlineMs() {
          return visitor.deadlineMs;
        },
      }),
    );
    visitor.deadlineMs += 5000;
    await advance(3000);
    expect(shared.outcome).toBeNull();
    turns[0]?.leave('answered');
    await settle();
    expect(shared.outcome).toHaveProperty('leave');
  });

  test('leaves where answers have come to take longer than it has', async () => {
    const { visit, clock } = openLimiters({ concurrency: { initial: 12, min: 12, max: 12 } });
    const deadlineMs = clock.nowMs + 60_000;
    const bound = { instance: 'i', max: 1 };
    const turns = Array.from({ length: 11 }, () => expectPermit(visit({ deadlineMs })));
    expectPermit(visit({ deadlineMs, bound }));
    const late = watch(visit({ deadlineMs: clock.nowMs + 12_000, bound }));
    const patient = watch(visit({ deadlineMs, bound }));
    clock.nowMs += 8000;
    for (const turn of turns) turn.leave('answered');
    expectPermit(visit()).leave('answered');
    await settle();
    expect(late.outcome).toMatchObject({ refused: 'too_late' });
    expect(patient.outcome).toBeNull();
  });
});

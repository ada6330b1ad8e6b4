import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IdempotencyStore } from '@erp-proxy/stores/ports';
import { openMemoryStore, openSqliteStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { CollectingWriter } from './answers.fixture.ts';
import { createIdempotency, createRelay, type Idempotency, type IdempotencyOptions } from './idempotency.ts';
import type { AttemptOutcome, IdempotentCall } from './idempotent-call.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-03-31T08:00:00Z');
const RUNS_FOR_MS = 15 * SECOND_MS;
const WRITE = { runsForMs: RUNS_FOR_MS, isReadOnly: false };
const READ = { runsForMs: RUNS_FOR_MS, isReadOnly: true };
/** Longer than an attempt may take, including the time to store its outcome. */
const CUT_OFF_MS = RUNS_FOR_MS + 10 * SECOND_MS;

let now: number;
let nowMs: number;
let store: IdempotencyStore;
let errors: unknown[];
let opened: Idempotency[];
let idempotency: Idempotency;

beforeEach(() => {
  now = START;
  nowMs = 1;
  store = openMemoryStore({ clock: () => now }).idempotency;
  errors = [];
  opened = [];
  idempotency = open();
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.map((one) => one.close()));
});

function open(options: Partial<IdempotencyOptions> = {}): Idempotency {
  const one = createIdempotency({
    store,
    secret: new Uint8Array(32).fill(1),
    keptForMs: DAY_MS,
    answerBytesMax: 1000,
    clientBounds: { keysMax: 1000, answerBytesMax: 10_000 },
    nowMs: () => nowMs,
    onError: (error) => errors.push(error),
    ...options,
  });
  opened.push(one);
  return one;
}

function attempt({
  key = 'order 17',
  body = '{"action":"create"}',
  by = idempotency,
  clientId = 'shop',
} = {}): IdempotentCall {
  const bytes = Buffer.from(body);
  return by.begin({ clientId, key, index: 0, operation: 'execute', bytes });
}

/** Sends a whole answer through the attempt, and finishes it. */
async function answer(call: IdempotentCall, text: string, outcome: AttemptOutcome = 'answered') {
  const out = new CollectingWriter();
  call.record(out).sendWhole(200, {}, Buffer.from(text));
  await call.finish(outcome);
  return out;
}

/** Result of the look-up by a retry, which must equal that of its claim; null if the retry may run. */
async function retry(of: Parameters<typeof attempt>[0] = {}) {
  const next = attempt(of);
  const known = await next.find();
  expect(known === null ? null : await next.claim(WRITE)).toEqual(known);
  return known?.kind === 'answered'
    ? { status: known.answer.status, body: `${known.answer.body}` }
    : (known?.kind ?? null);
}

describe('a retry', () => {
  test('gets the first answer, byte for byte and with its status', async () => {
    const first = attempt();
    expect(await first.find()).toBeNull();
    expect(await first.claim(WRITE)).toBeNull();
    expect(await answer(first, '{"result":1.0}')).toMatchObject({ body: '{"result":1.0}', state: 'whole' });
    expect(await retry()).toEqual({ status: 200, body: '{"result":1.0}' });
    expect(await retry()).toEqual({ status: 200, body: '{"result":1.0}' });
  });

  test('learns from every replica that the first attempt is running', async () => {
    await attempt().claim(WRITE);
    expect(await retry()).toBe('running');
    expect(await retry({ by: open() })).toBe('running');
  });

  test('learns that its key belongs to another call, however that call ended', async () => {
    const other = { body: '{"action":"unlink"}' };
    const first = attempt();
    await first.claim(WRITE);
    expect(await retry(other)).toBe('other_call');
    await answer(first, 'x');
    expect(await retry(other)).toBe('other_call');
    const second = attempt({ key: 'order 18' });
    await second.claim(WRITE);
    await second.finish('unknown');
    expect(await retry({ ...other, key: 'order 18' })).toBe('other_call');
  });

  test('may run if the first attempt did not', async () => {
    const first = attempt();
    await first.claim(WRITE);
    expect(await answer(first, 'busy', 'not_run')).toMatchObject({ body: 'busy', state: 'whole' });
    expect(await retry()).toBeNull();
    expect(await attempt().claim(WRITE)).toBeNull();
  });

  test('learns at once that the outcome of the first attempt is unknown', async () => {
    const first = attempt();
    await first.claim(WRITE);
    await answer(first, 'timeout', 'unknown');
    expect(await retry()).toBe('outcome_unknown');
  });

  test('learns that the outcome is unknown once the time of the first attempt is over', async () => {
    await attempt().claim(WRITE);
    now += RUNS_FOR_MS;
    expect(await retry(), 'its answer may still be on its way').toBe('running');
    now += CUT_OFF_MS;
    expect(await retry()).toBe('outcome_unknown');
  });

  test('gets the answer of an attempt that was suspended for longer than its time', async () => {
    const first = attempt();
    await first.claim(WRITE);
    now += HOUR_MS;
    expect(await retry()).toBe('outcome_unknown');
    await answer(first, 'late');
    expect(await retry()).toEqual({ status: 200, body: 'late' });
  });

  test('may run one day after the answer, or after the attempt was cut off', async () => {
    const first = attempt();
    await first.claim(WRITE);
    await answer(first, 'x');
    await attempt({ key: 'order 18' }).claim(WRITE);
    now += DAY_MS - 1;
    expect(await retry()).not.toBeNull();
    now += 1;
    expect(await retry()).toBeNull();
    expect(await retry({ key: 'order 18' })).toBe('outcome_unknown');
    now += CUT_OFF_MS;
    expect(await retry({ key: 'order 18' })).toBeNull();
  });
});

test('an attempt claims its key once, however often it is sent', async () => {
  const first = attempt();
  expect(await first.claim(WRITE)).toBeNull();
  expect(await first.claim(WRITE)).toBeNull();
});

test('an attempt without a claim changes nothing, and its answer is not held back', async () => {
  const first = attempt();
  await first.claim(WRITE);
  const late = attempt();
  expect(await late.claim(WRITE)).toEqual({ kind: 'running' });
  const out = new CollectingWriter();
  expect(late.record(out)).toBe(out);
  await late.finish('unknown');
  expect(await retry()).toBe('running');
});

describe('an answer that cannot be stored', () => {
  test('is sent, and a retry learns that the call ran', async () => {
    const first = attempt();
    await first.claim(WRITE);
    expect(await answer(first, 'x'.repeat(1001))).toMatchObject({ state: 'whole' });
    expect(await retry()).toBe('answer_not_stored');
  });

  test('a retry learns the same if the answer broke off', async () => {
    const first = attempt();
    await first.claim(WRITE);
    const writer = first.record(new CollectingWriter());
    writer.begin(200, {}, null);
    void writer.write(Buffer.from('{"result":'));
    writer.breakOff();
    await first.finish('answered');
    expect(await retry()).toBe('answer_not_stored');
  });

  test('a retry learns the same if an error replaced the answer; the error is not repeated', async () => {
    const first = attempt();
    await first.claim(WRITE);
    expect(await answer(first, 'it broke off', 'ran_without_answer')).toMatchObject({ body: 'it broke off' });
    expect(await retry()).toBe('answer_not_stored');
  });

  test('a stored answer that does not open is reported, and never sent', async () => {
    const first = attempt();
    await first.claim(WRITE);
    await answer(first, 'x');
    const { find } = store;
    store.find = async (id) => {
      const row = await find(id);
      return row && { ...row, answer: new Uint8Array(40) };
    };
    expect(await attempt().find()).toEqual({ kind: 'answer_not_stored' });
    expect(errors).toHaveLength(1);
  });
});

describe('a client that has reached its bounds', () => {
  const bounded = { clientBounds: { keysMax: 3, answerBytesMax: 300 } };

  test('gets no new key on any replica, keeps its present keys, and does not affect other clients', async () => {
    for (const key of ['a', 'b', 'c']) {
      const first = attempt({ key, by: open(bounded) });
      expect(await first.claim(WRITE)).toBeNull();
      if (key !== 'c') await answer(first, key);
    }
    const by = open(bounded);
    expect(await attempt({ key: 'd', by }).claim(WRITE)).toEqual({ kind: 'too_many_keys' });
    expect(await attempt({ key: 'd', by }).find()).toBeNull();
    expect(await attempt({ key: 'a', by }).find()).toMatchObject({ kind: 'answered' });
    expect(await attempt({ key: 'c', by }).find()).toEqual({ kind: 'running' });
    expect(await attempt({ key: 'd', by, clientId: 'other' }).claim(WRITE)).toBeNull();
  });

  test('can claim another key after a call that did not run, or after a claim that another attempt had', async () => {
    const by = open(bounded);
    for (const key of ['a', 'b']) expect(await attempt({ key, by }).claim(WRITE)).toBeNull();
    for (let time = 0; time < 5; time++) {
      const first = attempt({ key: 'c', by });
      expect(await first.claim(WRITE)).toBeNull();
      await first.finish('not_run');
      expect(await attempt({ key: 'a', by }).claim(WRITE)).toEqual({ kind: 'running' });
    }
  });

  test('regains the place of a key only once, however often the attempt is finished', async () => {
    const by = open(bounded);
    for (const key of ['a', 'b']) expect(await attempt({ key, by }).claim(WRITE)).toBeNull();
    const first = attempt({ key: 'c', by });
    await first.claim(WRITE);
    await Promise.all([first.finish('not_run'), first.finish('not_run')]);
    await first.finish('not_run');
    expect(await attempt({ key: 'd', by }).claim(WRITE)).toBeNull();
    expect(await attempt({ key: 'e', by }).claim(WRITE)).toEqual({ kind: 'too_many_keys' });
  });

  test('cannot claim more keys at once than its bound', async () => {
    const by = open(bounded);
    const claims = Array.from({ length: 10 }, (_, index) => attempt({ key: `${index}`, by }).claim(WRITE));
    const known = await Promise.all(claims);
    expect(known.filter((one) => one === null)).toHaveLength(3);
  });

  test('has no further answer stored: a write counts as run, and a read may run again', async () => {
    const by = open(bounded);
    const first = attempt({ key: 'a', by });
    await first.claim(WRITE);
    await answer(first, 'x'.repeat(200));
    const second = attempt({ key: 'b', by });
    await second.claim(WRITE);
    expect(await answer(second, 'y'.repeat(200))).toMatchObject({ body: 'y'.repeat(200), state: 'whole' });
    const third = attempt({ key: 'c', by });
    await third.claim(READ);
    await answer(third, 'z'.repeat(200));
    expect(await retry({ key: 'a', by })).toMatchObject({ status: 200 });
    expect(await retry({ key: 'b', by })).toBe('answer_not_stored');
    expect(await attempt({ key: 'c', by }).find()).toBeNull();
    expect(await attempt({ key: 'c', by }).claim(READ), 'a shorter answer would fit').toBeNull();
  });

  test('can claim keys again after its keys have expired', async () => {
    const by = open(bounded);
    for (const key of ['a', 'b', 'c']) expect(await attempt({ key, by }).claim(WRITE)).toBeNull();
    expect(await attempt({ key: 'd', by }).claim(WRITE)).toEqual({ kind: 'too_many_keys' });
    now += DAY_MS + CUT_OFF_MS;
    expect(await store.prune(10)).toBe(3);
    expect(await attempt({ key: 'd', by }).claim(WRITE), 'counted less than a minute ago').not.toBeNull();
    nowMs += 60_001;
    expect(await attempt({ key: 'd', by }).claim(WRITE)).toBeNull();
  });

  test('cannot claim a key while the store cannot report its totals', async () => {
    const failing: IdempotencyStore = {
      ...store,
      measure: () => {
        throw new Error('the store is away');
      },
    };
    const by = open({ store: failing });
    await expect(attempt({ by }).claim(WRITE)).rejects.toThrow('the store is away');
    expect(await retry()).toBeNull();
  });
});

describe('a call that only reads', () => {
  test('has its answer stored as a write has', async () => {
    const first = attempt();
    await first.claim(READ);
    await answer(first, 'records');
    now += HOUR_MS;
    expect(await retry()).toEqual({ status: 200, body: 'records' });
  });

  test('may run again at once if its outcome is unknown or its answer is too large', async () => {
    const first = attempt();
    await first.claim(READ);
    expect(await retry()).toBe('running');
    await answer(first, 'timeout', 'unknown');
    expect(await retry()).toBeNull();
    const second = attempt();
    await second.claim(READ);
    await answer(second, 'x'.repeat(1001));
    expect(await retry()).toBeNull();
  });

  test('may run again after a crash, once its time is over', async () => {
    await attempt().claim(READ);
    now += CUT_OFF_MS;
    expect(await retry()).toBeNull();
  });
});

describe('a store that is away', () => {
  const away = () => {
    throw new Error('the store is away');
  };

  test('no call with a key may run', async () => {
    const find = attempt({ by: open({ store: { ...store, find: away } }) });
    await expect(find.find()).rejects.toThrow('the store is away');
    const claim = attempt({ by: open({ store: { ...store, claim: away } }) });
    await expect(claim.claim(WRITE)).rejects.toThrow('the store is away');
    expect(await retry()).toBeNull();
  });

  test('a claim that was stored although the store failed is released', async () => {
    const silent: IdempotencyStore = {
      ...store,
      claim: async (claim) => {
        await store.claim(claim);
        return away();
      },
    };
    await expect(attempt({ by: open({ store: silent }) }).claim(WRITE)).rejects.toThrow();
    expect(await retry()).toBeNull();
  });

  test.each(['claim', 'finish'] as const)(
    'if it fails at %s, the claim of a call that did not run is released once it answers again',
    async (at) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const countTimers = countOwnTimers();
      let isAway = false;
      const failing: IdempotencyStore = {
        ...store,
        claim: async (claim) => {
          await store.claim(claim);
          return at === 'claim' ? away() : null;
        },
        release: (id, attempt) => (isAway ? away() : store.release(id, attempt)),
      };
      const first = attempt({ by: open({ store: failing }) });
      isAway = true;
      if (at === 'claim') await expect(first.claim(WRITE)).rejects.toThrow();
      else {
        await first.claim(WRITE);
        await first.finish('not_run');
      }
      await vi.advanceTimersByTimeAsync(3000);
      expect(await retry()).toBe('running');
      isAway = false;
      await vi.advanceTimersByTimeAsync(1000);
      expect(await retry()).toBeNull();
      expect(countTimers(), 'only the timer of pruning').toBe(1);
    },
  );

  test('the caller still gets its answer; a retry gets an unknown outcome', async () => {
    const failing = { ...store, complete: away, markUnknown: away, release: away };
    for (const outcome of ['answered', 'unknown', 'not_run'] as const) {
      const first = attempt({ key: outcome, by: open({ store: failing }) });
      await first.claim(WRITE);
      expect(await answer(first, 'x', outcome)).toMatchObject({ body: 'x', state: 'whole' });
      expect(await retry({ key: outcome })).toBe('running');
    }
    now += CUT_OFF_MS;
    expect(await retry({ key: 'answered' })).toBe('outcome_unknown');
    expect(errors.map(String)).toEqual(Array(3).fill('Error: the store is away'));
  });

  test('an answer is held back for one second at most, and is stored when the store answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { promise: isBack, resolve: resume } = Promise.withResolvers<void>();
    const slow: IdempotencyStore = {
      ...store,
      complete: async (...end) => {
        await isBack;
        await store.complete(...end);
      },
    };
    const first = attempt({ by: open({ store: slow }) });
    await first.claim(WRITE);
    const out = new CollectingWriter();
    first.record(out).sendWhole(200, {}, Buffer.from('x'));
    const finished = first.finish('answered');
    await vi.advanceTimersByTimeAsync(999);
    expect(out.state).toBe('open');
    await vi.advanceTimersByTimeAsync(1);
    await finished;
    expect(out.state).toBe('whole');
    resume();
    await expect.poll(() => retry()).toEqual({ status: 200, body: 'x' });
  });
});

describe('a jump of the clock', () => {
  test('back: claims and answers last longer, and nothing runs twice', async () => {
    await attempt({ key: 'runs' }).claim(WRITE);
    const first = attempt();
    await first.claim(WRITE);
    await answer(first, 'x');
    now -= 300 * SECOND_MS;
    expect(await retry({ key: 'runs' })).toBe('running');
    now -= 2 * HOUR_MS;
    expect(await retry()).toEqual({ status: 200, body: 'x' });
    // The process of the attempt may have died since: no attempt runs for hours.
    expect(await retry({ key: 'runs' })).toBe('outcome_unknown');
    now += 2 * HOUR_MS + 300 * SECOND_MS + CUT_OFF_MS;
    expect(await retry({ key: 'runs' })).toBe('outcome_unknown');
  });

  test('forward by less than a day: a running call counts as cut off until it ends, and does not run twice', async () => {
    const first = attempt();
    await first.claim(WRITE);
    now += 23 * HOUR_MS;
    expect(await retry()).toBe('outcome_unknown');
    await answer(first, 'x');
    expect(await retry()).toEqual({ status: 200, body: 'x' });
  });

  test('forward by more: keys expire, and an attempt from before cannot finish one from after', async () => {
    const first = attempt();
    await first.claim(WRITE);
    now += 2 * DAY_MS;
    const second = attempt();
    expect(await second.claim(WRITE)).toBeNull();
    await answer(first, 'first');
    expect(await retry()).toBe('running');
    await answer(second, 'second');
    expect(await retry()).toEqual({ status: 200, body: 'second' });
  });
});

test('key, call and answer cannot be read in the store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-idempotency-'));
  const file = await openSqliteStore(join(directory, 'store.db'));
  try {
    const by = open({ store: file.idempotency });
    const first = attempt({ key: 'secret-key', body: '{"secret-call":1}', by });
    await first.claim(WRITE);
    await answer(first, '{"secret-answer":1}');
    expect(await retry({ key: 'secret-key', body: '{"secret-call":1}', by })).toMatchObject({ status: 200 });
    const written = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
    expect(written.join('')).toContain('idempotency_keys');
    expect(written.join('')).not.toMatch(/secret-/);
  } finally {
    await file.close();
    rmSync(directory, { recursive: true });
  }
});

test('a text reaches another process, and the first one counts', async () => {
  const store = openMemoryStore({ clock: () => 0 }).idempotency;
  const [one, other] = [createRelay(store), createRelay(store)];
  expect(await other.find('a')).toBeNull();
  expect(await one.put('a', 'key', 'yes')).toBe(true);
  expect(await one.put('a', 'key', 'no')).toBe(false);
  expect(await other.find('a')).toBe('yes');
});

test('a text is forgotten after some minutes', async () => {
  let now = 0;
  const relay = createRelay(openMemoryStore({ clock: () => now }).idempotency);
  await relay.put('a', 'key', 'yes');
  now = 9 * 60_000;
  expect(await relay.find('a')).toBe('yes');
  now = 11 * 60_000;
  expect(await relay.find('a')).toBeNull();
});

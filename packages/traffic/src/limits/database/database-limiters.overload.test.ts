/** The database limiters in front of a simulated overloaded Odoo. */
import { expect, test } from 'vitest';
import { createRandom } from '../../../../server/test/seeded-random.ts';
import { createTestLimiters } from './database-limiters.fixture.ts';
import type { Permit, PermitRefusal } from './database-limiters.ts';

const WORKERS = 8;
const SERVICE_MS = 100;
const BEST_PER_SECOND = (WORKERS * 1000) / SERVICE_MS;

interface Second {
  answered: number;
  timedOut: number;
  refused: number;
  waiting: number;
}

interface Load {
  seed: number;
  seconds: number;
  timeoutMs: number;
  /** Rate of calls, as a fraction of Odoo's capacity. */
  share: (nowMs: number) => number;
}

/** Five clients call at random times. A call that times out keeps its worker busy to its end, as in Odoo. */
async function simulate({ seed, seconds, timeoutMs, share }: Load): Promise<Second[]> {
  const random = createRandom(seed);
  const takeRandom = (meanMs: number) => -meanMs * Math.log(1 - random());
  const { databaseLimiters, clock, acquire } = createTestLimiters({
    concurrency: { initial: 4, min: 1, max: 100 },
    random,
  });
  const history: Second[] = Array.from({ length: seconds }, () => ({
    answered: 0,
    timedOut: 0,
    refused: 0,
    waiting: 0,
  }));
  const startMs = clock.nowMs;
  const count = (what: keyof Second) => {
    const second = history[Math.floor((clock.nowMs - startMs) / 1000)];
    if (second !== undefined) second[what]++;
  };

  const events: { atMs: number; run: () => void }[] = [];
  const schedule = (inMs: number, run: () => void) => {
    const atMs = clock.nowMs + inMs;
    events.splice(events.findLastIndex((event) => event.atMs <= atMs) + 1, 0, { atMs, run });
  };

  const sent: (() => void)[] = [];
  let working = 0;
  const work = () => {
    for (const serve of sent.splice(0, WORKERS - working)) {
      working++;
      serve();
    }
  };
  const send = (permit: Permit, deadlineMs: number) => {
    let isOver = false;
    const end = (result: 'answered' | 'timed_out') => {
      if (isOver) return;
      isOver = true;
      count(result === 'answered' ? 'answered' : 'timedOut');
      permit.release(result);
    };
    schedule(deadlineMs - clock.nowMs, () => end('timed_out'));
    sent.push(() =>
      schedule(takeRandom(SERVICE_MS), () => {
        working--;
        end('answered');
        work();
      }),
    );
    work();
  };
  const arrive = () => {
    schedule(takeRandom(1000 / BEST_PER_SECOND / share(clock.nowMs - startMs)), arrive);
    const ending = new AbortController();
    const deadlineMs = clock.nowMs + timeoutMs;
    const outcome = acquire({
      client: `client ${Math.floor(5 * random())}`,
      deadlineMs,
      signal: ending.signal,
    });
    const take = (given: Permit | PermitRefusal) =>
      'release' in given ? send(given, deadlineMs) : count('refused');
    if (!(outcome instanceof Promise)) return take(outcome);
    schedule(timeoutMs, () => ending.abort());
    outcome.then(take);
  };

  arrive();
  for (
    let next = events.shift();
    next !== undefined && next.atMs < startMs + seconds * 1000;
    next = events.shift()
  ) {
    clock.nowMs = next.atMs;
    next.run();
    await Promise.resolve();
    const second = history[Math.floor((clock.nowMs - startMs) / 1000)];
    if (second !== undefined) second.waiting = databaseLimiters.states()[0]?.waiting ?? 0;
  }
  return history;
}

const sum = (history: Second[], what: keyof Second) =>
  history.reduce((total, second) => total + second[what], 0);

test.each([1, 2, 3])(
  'at five times the capacity of Odoo, most of the capacity answers calls in time, and service recovers in five seconds: seed %i',
  async (seed) => {
    const share = (nowMs: number) => (nowMs < 30_000 ? 5 : 0.5);
    const history = await simulate({ seed, seconds: 45, timeoutMs: 2000, share });
    const overloaded = history.slice(10, 30);
    expect(sum(overloaded, 'answered') / overloaded.length).toBeGreaterThan(0.8 * BEST_PER_SECOND);
    expect(sum(overloaded, 'timedOut')).toBeLessThan(0.2 * sum(overloaded, 'answered'));
    for (const { waiting } of history) expect(waiting).toBeLessThanOrEqual(1000);
    const recovered = history.slice(35);
    const failed = sum(recovered, 'refused') + sum(recovered, 'timedOut');
    expect(failed).toBeLessThan(0.01 * sum(recovered, 'answered'));
    expect(sum(recovered, 'answered') / recovered.length).toBeGreaterThan(0.4 * BEST_PER_SECOND);
  },
);

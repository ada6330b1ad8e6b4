/** How processes publish the state of breakers and apply the news of others. Transport is tested in redis/. */
import { describe, expect, test } from 'vitest';
import {
  createTestLimiters,
  DATABASE,
  expectPermit,
  type TestLimiters,
} from './database-limiters.fixture.ts';
import type { BreakerNews, Opening, Peers } from './peers.ts';

const REFUSED = { refused: 'breaker_open', retryAfterSeconds: 1 };
const PAST = Number.NEGATIVE_INFINITY;
const FIVE = { concurrency: { initial: 5, min: 5, max: 5 } };

interface LimitersWithPeers extends TestLimiters {
  /** News that this process has published, in order. */
  published: (string | Opening)[];
  /** Delivers news of another process. */
  deliver(news: BreakerNews): void;
  /** Answers the oldest request to probe. */
  answer(isGranted: boolean): void;
}

function createWithPeers(
  changes: Parameters<typeof createTestLimiters>[0] = {},
  known: Opening | null = null,
): LimitersWithPeers {
  const published: LimitersWithPeers['published'] = [];
  const requests: ((isGranted: boolean) => void)[] = [];
  let deliver: LimitersWithPeers['deliver'] = () => {};
  const peers: Peers = {
    find: () => known,
    publishOpened: (_database, opening, isProbe) =>
      void published.push(isProbe ? 'reopened' : 'opened', opening),
    publishAnswered: () => void published.push('answered'),
    returnProbe: () => void published.push('probe returned'),
    requestProbe: () => new Promise((resolve) => requests.push(resolve)),
    onNews: (listener) => {
      deliver = (news) => listener(DATABASE, news);
    },
  };
  const limiters = createTestLimiters({ ...changes, peers });
  return { ...limiters, published, deliver, answer: (isGranted) => requests.shift()?.(isGranted) };
}

/** An opening that another process has just published, after one second of failures. */
function describeOpening({ clock: { nowMs } }: TestLimiters, changes: Partial<Opening> = {}): Opening {
  return {
    witness: null,
    sinceMs: nowMs - 1000,
    openMs: 1000,
    untilMs: nowMs + 1000,
    probeUntilMs: PAST,
    lastProber: null,
    othersUntilMs: PAST,
    ...changes,
  };
}

const readState = ({ databaseLimiters }: TestLimiters) => databaseLimiters.states()[0]?.breaker;

describe('publishing', () => {
  test('nothing, for a database that answers although some calls fail', () => {
    const limiters = createWithPeers();
    for (let call = 0; call < 100; call++) limiters.runCall(call % 4 ? 'unreachable' : 'answered', 10);
    expect(limiters.published).toEqual([]);
  });

  test('that the breaker opened, for which client, and since when no call was answered', () => {
    const limiters = createWithPeers();
    const { nowMs } = limiters.clock;
    for (let call = 0; call < 5; call++) limiters.runCall('unreachable', 10, { client: 'a' });
    limiters.runCall('unreachable', 10, { client: 'b' });
    expect(limiters.published).toMatchObject([
      'opened',
      { witness: 'a', sinceMs: nowMs, openMs: 1000, untilMs: nowMs + 1050 },
      'opened',
      { witness: null, sinceMs: nowMs, openMs: 1000, untilMs: nowMs + 1060 },
    ]);
  });

  test('the results of probes', async () => {
    const limiters = createWithPeers();
    limiters.acquire();
    limiters.deliver(describeOpening(limiters));
    const probe = async () => {
      limiters.clock.nowMs += 60_000;
      const outcome = limiters.acquire({ client: 'b' });
      limiters.answer(true);
      return expectPermit(await outcome);
    };
    (await probe()).release('unreachable');
    expect(limiters.published.splice(0)).toMatchObject(['reopened', { witness: null, openMs: 2000 }]);
    (await probe()).release('abandoned');
    expect(limiters.published.splice(0)).toEqual(['probe returned']);
    (await probe()).release('answered');
    expect(limiters.published).toEqual(['answered']);
  });
});

describe('news of other processes', () => {
  test('an opening refuses calls at once, including waiting ones', async () => {
    const limiters = createWithPeers();
    const permits = [expectPermit(limiters.acquire()), expectPermit(limiters.acquire())];
    const waiting = limiters.acquire({ client: 'b' });
    limiters.deliver(describeOpening(limiters));
    expect(await waiting).toEqual(REFUSED);
    expect(limiters.acquire()).toEqual(REFUSED);
    for (const permit of permits) permit.release('unreachable');
    expect(limiters.published).toEqual([]);
  });

  test('an opening for one client refuses only that client, until another client sees a failure', () => {
    const limiters = createWithPeers();
    limiters.runCall('abandoned');
    limiters.deliver(describeOpening(limiters, { witness: 'x' }));
    expect(limiters.acquire({ client: 'x' })).toEqual(REFUSED);
    limiters.runCall('unreachable', 10, { client: 'y' });
    expect(limiters.published).toMatchObject(['opened', { witness: null }]);
    expect(limiters.acquire({ client: 'z' })).toEqual(REFUSED);
  });

  test('an opening for one client is closed for all processes when the server answers another client', () => {
    const limiters = createWithPeers();
    limiters.runCall('abandoned');
    limiters.deliver(describeOpening(limiters, { witness: 'x' }));
    limiters.runCall('answered', 10, { client: 'y' });
    expect(limiters.published).toEqual(['answered']);
    expectPermit(limiters.acquire({ client: 'x' }));
  });

  test('an opening is contradicted if the server has answered this process since', () => {
    const limiters = createWithPeers();
    limiters.runCall('answered');
    limiters.deliver(describeOpening(limiters));
    expect(limiters.published).toEqual(['answered']);
    expectPermit(limiters.acquire());
    expect(readState(limiters)).toBe('closed');
  });

  test('for failures from before the last answer, the process publishes its own newer failures', () => {
    const limiters = createWithPeers();
    const { nowMs } = limiters.clock;
    limiters.runCall('answered');
    for (const client of ['a', 'a', 'a', 'a', 'b']) limiters.runCall('unreachable', 10, { client });
    limiters.published.length = 0;
    limiters.deliver(describeOpening(limiters, { sinceMs: nowMs - 1000 }));
    expect(limiters.published).toMatchObject(['opened', { witness: null, sinceMs: nowMs }]);
    expect(limiters.acquire()).toEqual(REFUSED);
  });

  test('an answer closes the breaker, and the concurrency limit starts at its minimum', async () => {
    const limiters = createWithPeers({ concurrency: { initial: 5, min: 1, max: 5 } });
    const running = expectPermit(limiters.acquire());
    limiters.deliver(describeOpening(limiters));
    limiters.deliver({ answeredMs: limiters.clock.nowMs });
    expect(limiters.databaseLimiters.states()).toMatchObject([{ breaker: 'closed', limit: 1 }]);
    // This call began before the answer, so its failure is ignored.
    running.release('unreachable');
    for (let call = 0; call < 4; call++) limiters.runCall('unreachable');
    expect(readState(limiters)).toBe('closed');
  });

  test("an answer from before the process's own failures does not close the breaker", () => {
    const limiters = createWithPeers();
    const answeredMs = limiters.clock.nowMs - 1;
    for (let call = 0; call < 5; call++) limiters.runCall('unreachable', 10, { client: 'a' });
    limiters.deliver({ answeredMs });
    expect(limiters.acquire()).toEqual(REFUSED);
  });

  test('an opening known before the first call applies to that call', () => {
    const { clock } = createTestLimiters();
    const limiters = createWithPeers({}, describeOpening({ clock } as TestLimiters));
    expect(limiters.acquire()).toEqual(REFUSED);
  });
});

describe('the only probe', () => {
  function createHalfOpen(): LimitersWithPeers {
    const limiters = createWithPeers(FIVE);
    limiters.runCall('abandoned');
    limiters.deliver(describeOpening(limiters));
    limiters.clock.nowMs += 1000;
    expect(readState(limiters)).toBe('half_open');
    return limiters;
  }

  test('waits for the grant, while other calls are refused', async () => {
    const limiters = createHalfOpen();
    const probe = limiters.acquire({ client: 'a' });
    expect(limiters.acquire({ client: 'b' })).toEqual(REFUSED);
    limiters.answer(true);
    expectPermit(await probe).release('answered');
    expect(readState(limiters)).toBe('closed');
  });

  test('is refused while another process probes', async () => {
    const limiters = createHalfOpen();
    const probe = limiters.acquire({ client: 'a' });
    limiters.deliver(
      describeOpening(limiters, { untilMs: limiters.clock.nowMs, probeUntilMs: limiters.clock.nowMs + 5000 }),
    );
    limiters.answer(false);
    expect(await probe).toEqual(REFUSED);
    expect(limiters.databaseLimiters.states()).toMatchObject([{ running: 0 }]);
    expect(limiters.published).toEqual([]);
    limiters.clock.nowMs += 4999;
    expect(limiters.acquire({ client: 'a' })).toEqual(REFUSED);
    limiters.clock.nowMs += 1;
    const next = limiters.acquire({ client: 'a' });
    limiters.answer(true);
    expectPermit(await next);
  });

  test('is an ordinary call if the news is that the database answers', async () => {
    const limiters = createHalfOpen();
    const probe = limiters.acquire({ client: 'a' });
    limiters.deliver({ answeredMs: limiters.clock.nowMs });
    limiters.answer(false);
    expectPermit(await probe).release('answered');
    expect(limiters.published).toEqual([]);
  });

  test('is returned if the caller leaves meanwhile', async () => {
    const limiters = createHalfOpen();
    const leaving = new AbortController();
    const probe = limiters.acquire({ client: 'a', signal: leaving.signal });
    leaving.abort();
    limiters.answer(true);
    expect(await probe).toMatchObject({ refused: 'ended' });
    expect(limiters.published).toEqual(['probe returned']);
    expect(limiters.databaseLimiters.states()).toMatchObject([{ running: 0 }]);
  });
});

describe('bounds that several processes share', () => {
  test('are divided by the current number of processes, with at least one call each', () => {
    let processes = 4;
    const { databaseLimiters, acquire } = createTestLimiters({
      concurrency: { initial: 8, min: 8, max: 8 },
      queueMax: 6,
      processes: () => processes,
    });
    const countRunning = () => databaseLimiters.states()[0]?.running;
    for (let call = 0; call < 3; call++) acquire();
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 1, limit: 2 }]);
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
    processes = 2;
    expect(acquire()).toBeInstanceOf(Promise);
    expect(databaseLimiters.states()).toMatchObject([{ running: 4, waiting: 0, limit: 4 }]);
    processes = 100;
    expect(acquire()).toBeInstanceOf(Promise);
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
    expect(countRunning()).toBe(4);
    expect(databaseLimiters.states()).toMatchObject([{ limit: 1 }]);
  });

  test('include the bound of an instance and the initial concurrency limit', () => {
    const { databaseLimiters, acquire } = createTestLimiters({
      concurrency: { initial: 8, min: 2, max: 64 },
      processes: () => 2,
    });
    for (let call = 0; call < 3; call++) acquire({ bound: { instance: 'i', max: 4 } });
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 1, limit: 4 }]);
    const alone = createTestLimiters({ processes: () => 8 });
    for (let call = 0; call < 3; call++) alone.acquire({ bound: { instance: 'i', max: 4 } });
    expect(alone.databaseLimiters.states()).toMatchObject([{ running: 1, waiting: 2 }]);
  });

  test('a queue of size 0 remains empty', () => {
    const { acquire } = createTestLimiters({ queueMax: 0, processes: () => 2 });
    acquire();
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
  });
});

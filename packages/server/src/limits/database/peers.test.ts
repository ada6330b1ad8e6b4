/** What processes hear of each other's breakers, and what they make of it. How it is carried is tested in redis/. */
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

interface PeersTest extends TestLimiters {
  /** What this process has told. */
  told: (string | Opening)[];
  /** Another process has found this. */
  say(news: BreakerNews): void;
  /** Answers the oldest question whether this process may probe. */
  answer(isGranted: boolean): void;
}

function openWithPeers(
  changes: Parameters<typeof createTestLimiters>[0] = {},
  known: Opening | null = null,
): PeersTest {
  const told: PeersTest['told'] = [];
  const questions: ((isGranted: boolean) => void)[] = [];
  let say: PeersTest['say'] = () => {};
  const peers: Peers = {
    find: () => known,
    tellOpened: (_database, opening, isProbe) => void told.push(isProbe ? 'reopened' : 'opened', opening),
    tellAnswered: () => void told.push('answered'),
    returnProbe: () => void told.push('probe returned'),
    askProbe: () => new Promise((resolve) => questions.push(resolve)),
    onNews: (listener) => {
      say = (news) => listener(DATABASE, news);
    },
  };
  const limiters = createTestLimiters({ ...changes, peers });
  return { ...limiters, told, say, answer: (isGranted) => questions.shift()?.(isGranted) };
}

/** An opening that another process found just now, after failures of a second. */
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

describe('telling', () => {
  test('nothing is told of a database that answers, though some calls fail', () => {
    const test = openWithPeers();
    for (let call = 0; call < 100; call++) test.runCall(call % 4 ? 'unreachable' : 'answered', 10);
    expect(test.told).toEqual([]);
  });

  test('that it opened, to whom, and since when nobody was answered', () => {
    const test = openWithPeers();
    const { nowMs } = test.clock;
    for (let call = 0; call < 5; call++) test.runCall('unreachable', 10, { client: 'a' });
    test.runCall('unreachable', 10, { client: 'b' });
    expect(test.told).toMatchObject([
      'opened',
      { witness: 'a', sinceMs: nowMs, openMs: 1000, untilMs: nowMs + 1050 },
      'opened',
      { witness: null, sinceMs: nowMs, openMs: 1000, untilMs: nowMs + 1060 },
    ]);
  });

  test('what its probes find', async () => {
    const test = openWithPeers();
    test.acquire();
    test.say(describeOpening(test));
    const probe = async () => {
      test.clock.nowMs += 60_000;
      const outcome = test.acquire({ client: 'b' });
      test.answer(true);
      return expectPermit(await outcome);
    };
    (await probe()).release('unreachable');
    expect(test.told.splice(0)).toMatchObject(['reopened', { witness: null, openMs: 2000 }]);
    (await probe()).release('abandoned');
    expect(test.told.splice(0)).toEqual(['probe returned']);
    (await probe()).release('answered');
    expect(test.told).toEqual(['answered']);
  });
});

describe('hearing', () => {
  test('that another found it open, it refuses at once, also those that wait', async () => {
    const test = openWithPeers();
    const permits = [expectPermit(test.acquire()), expectPermit(test.acquire())];
    const waiting = test.acquire({ client: 'b' });
    test.say(describeOpening(test));
    expect(await waiting).toEqual(REFUSED);
    expect(test.acquire()).toEqual(REFUSED);
    for (const permit of permits) permit.release('unreachable');
    expect(test.told).toEqual([]);
  });

  test('that one client alone has seen the failures, it refuses that one alone, until another sees one too', () => {
    const test = openWithPeers();
    test.runCall('abandoned');
    test.say(describeOpening(test, { witness: 'x' }));
    expect(test.acquire({ client: 'x' })).toEqual(REFUSED);
    test.runCall('unreachable', 10, { client: 'y' });
    expect(test.told).toMatchObject(['opened', { witness: null }]);
    expect(test.acquire({ client: 'z' })).toEqual(REFUSED);
  });

  test('that one client alone is refused, it says so when the server answers another', () => {
    const test = openWithPeers();
    test.runCall('abandoned');
    test.say(describeOpening(test, { witness: 'x' }));
    test.runCall('answered', 10, { client: 'y' });
    expect(test.told).toEqual(['answered']);
    expectPermit(test.acquire({ client: 'x' }));
  });

  test('that it answers nobody, it objects where it was answered itself meanwhile', () => {
    const test = openWithPeers();
    test.runCall('answered');
    test.say(describeOpening(test));
    expect(test.told).toEqual(['answered']);
    expectPermit(test.acquire());
    expect(readState(test)).toBe('closed');
  });

  test('of failures from before it was answered, it tells of its own since then', () => {
    const test = openWithPeers();
    const { nowMs } = test.clock;
    test.runCall('answered');
    for (const client of ['a', 'a', 'a', 'a', 'b']) test.runCall('unreachable', 10, { client });
    test.told.length = 0;
    test.say(describeOpening(test, { sinceMs: nowMs - 1000 }));
    expect(test.told).toMatchObject(['opened', { witness: null, sinceMs: nowMs }]);
    expect(test.acquire()).toEqual(REFUSED);
  });

  test('that it answers again, it opens for all, with a level from below', async () => {
    const test = openWithPeers({ concurrency: { initial: 5, min: 1, max: 5 } });
    const running = expectPermit(test.acquire());
    test.say(describeOpening(test));
    test.say({ answeredMs: test.clock.nowMs });
    expect(test.databaseLimiters.states()).toMatchObject([{ breaker: 'closed', limit: 1 }]);
    // It began before; it tells nothing of what came after.
    running.release('unreachable');
    for (let call = 0; call < 4; call++) test.runCall('unreachable');
    expect(readState(test)).toBe('closed');
  });

  test('of an answer from before its own failures, it stays open', () => {
    const test = openWithPeers();
    const answeredMs = test.clock.nowMs - 1;
    for (let call = 0; call < 5; call++) test.runCall('unreachable', 10, { client: 'a' });
    test.say({ answeredMs });
    expect(test.acquire()).toEqual(REFUSED);
  });

  test('what was known before its first call holds for that one', () => {
    const { clock } = createTestLimiters();
    const test = openWithPeers({}, describeOpening({ clock } as TestLimiters));
    expect(test.acquire()).toEqual(REFUSED);
  });
});

describe('the one probe', () => {
  function openHalf(): PeersTest {
    const test = openWithPeers(FIVE);
    test.runCall('abandoned');
    test.say(describeOpening(test));
    test.clock.nowMs += 1000;
    expect(readState(test)).toBe('half_open');
    return test;
  }

  test('waits for leave, and no other call waits with it', async () => {
    const test = openHalf();
    const probe = test.acquire({ client: 'a' });
    expect(test.acquire({ client: 'b' })).toEqual(REFUSED);
    test.answer(true);
    expectPermit(await probe).release('answered');
    expect(readState(test)).toBe('closed');
  });

  test('is refused where another process probes, until that has had its time', async () => {
    const test = openHalf();
    const probe = test.acquire({ client: 'a' });
    test.say(describeOpening(test, { untilMs: test.clock.nowMs, probeUntilMs: test.clock.nowMs + 5000 }));
    test.answer(false);
    expect(await probe).toEqual(REFUSED);
    expect(test.databaseLimiters.states()).toMatchObject([{ running: 0 }]);
    expect(test.told).toEqual([]);
    test.clock.nowMs += 4999;
    expect(test.acquire({ client: 'a' })).toEqual(REFUSED);
    test.clock.nowMs += 1;
    const next = test.acquire({ client: 'a' });
    test.answer(true);
    expectPermit(await next);
  });

  test('is a call as any other where the answer is that the database is well', async () => {
    const test = openHalf();
    const probe = test.acquire({ client: 'a' });
    test.say({ answeredMs: test.clock.nowMs });
    test.answer(false);
    expectPermit(await probe).release('answered');
    expect(test.told).toEqual([]);
  });

  test('is given back where the caller leaves meanwhile', async () => {
    const test = openHalf();
    const leaving = new AbortController();
    const probe = test.acquire({ client: 'a', signal: leaving.signal });
    leaving.abort();
    test.answer(true);
    expect(await probe).toMatchObject({ refused: 'ended' });
    expect(test.told).toEqual(['probe returned']);
    expect(test.databaseLimiters.states()).toMatchObject([{ running: 0 }]);
  });
});

describe('bounds that several processes keep together', () => {
  test('each keeps its part of them, at least one call, by how many there are now', () => {
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

  test('so it is with the bound of an instance, and with where the level starts', () => {
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

  test('a queue of no places has none for anybody', () => {
    const { acquire } = createTestLimiters({ queueMax: 0, processes: () => 2 });
    acquire();
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
  });
});

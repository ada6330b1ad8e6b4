import { describe, expect, test } from 'vitest';
import { createTestLimiters, expectPermit, type TestLimiters } from './database-limiters.fixture.ts';
import type { PermitResult } from './database-limiters.ts';

const REFUSED = { refused: 'breaker_open', retryAfterSeconds: 1 };

const readState = ({ databaseLimiters }: TestLimiters) => databaseLimiters.states()[0]?.breaker;

/** Creates limiters whose breaker five failures of two clients have opened. */
function openBreaker(changes: Parameters<typeof createTestLimiters>[0] = {}): TestLimiters {
  const limiters = createTestLimiters(changes);
  for (const client of ['a', 'a', 'a', 'a', 'b']) limiters.runCall('unreachable', 10, { client });
  expect(readState(limiters)).toBe('open');
  return limiters;
}

describe('opening', () => {
  test.each<PermitResult>(['unreachable', 'timed_out'])(
    'opens after five consecutive calls that are %s',
    (result) => {
      const limiters = createTestLimiters();
      for (let call = 0; call < 4; call++) limiters.runCall(result, 10);
      limiters.runCall('answered');
      for (let call = 0; call < 4; call++) limiters.runCall(result, 10);
      expect(readState(limiters)).toBe('closed');
      limiters.runCall(result, 10);
      expect(readState(limiters)).toBe('open');
      expect(limiters.acquire()).toEqual(REFUSED);
      expect(limiters.databaseLimiters.states()).toMatchObject([{ running: 0, retryAfterSeconds: 1 }]);
    },
  );

  test.each<PermitResult>(['answered', 'overloaded', 'abandoned'])(
    'never opens after calls that are %s',
    (result) => {
      const limiters = createTestLimiters();
      for (let call = 0; call < 100; call++) limiters.runCall(result, 10);
      expect(readState(limiters)).toBe('closed');
    },
  );

  test('refuses all waiting calls at once', async () => {
    const { acquire, databaseLimiters } = createTestLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const permits = ['a', 'b', 'c', 'd', 'e'].map((client) => expectPermit(acquire({ client })));
    const waiting = Array.from({ length: 10 }, (_, call) => acquire({ client: `w${call}` }));
    for (const permit of permits) permit.release('unreachable');
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((outcome) => 'release' in outcome)).toHaveLength(4);
    expect(outcomes.slice(4)).toEqual(Array(6).fill(REFUSED));
    expect(databaseLimiters.states()).toMatchObject([{ running: 4, waiting: 0 }]);
  });

  test('removes all waiting calls from the queue at once, and refuses them in slices of the event loop', async () => {
    const { acquire, databaseLimiters } = createTestLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const permits = ['a', 'b', 'c', 'd', 'e'].map((client) => expectPermit(acquire({ client })));
    let refused = 0;
    for (let call = 0; call < 500; call++)
      void Promise.resolve(acquire({ client: 'w' })).then((outcome) => {
        if ('refused' in outcome) refused++;
      });
    for (const permit of permits) permit.release('unreachable');
    expect(databaseLimiters.states()).toMatchObject([{ waiting: 0 }]);
    let most = 0;
    for (let before = -1; refused > before; ) {
      before = refused;
      await new Promise(setImmediate);
      most = Math.max(most, refused - before);
    }
    expect(refused).toBe(500 - (databaseLimiters.states()[0]?.running ?? 0));
    expect(most).toBeLessThanOrEqual(50);
  });

  test('also refuses calls that wait for the bound of their instance', async () => {
    const { acquire, runCall } = createTestLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const bound = { instance: 'i', max: 1 };
    expectPermit(acquire({ client: 'hanging', bound }));
    const waiting = acquire({ client: 'c', bound });
    for (const client of ['a', 'a', 'a', 'a', 'b']) runCall('unreachable', 10, { client });
    expect(await waiting).toEqual(REFUSED);
  });

  test('ignores failures of calls that began before the last answer of the server', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 7, min: 7, max: 7 } });
    const slow = Array.from({ length: 6 }, () => expectPermit(limiters.acquire()));
    limiters.runCall('answered');
    for (const permit of slow) permit.release('unreachable');
    expect(readState(limiters)).toBe('closed');
  });
});

describe('a server that hangs', () => {
  test.each([
    { result: 'timed_out', allowedMs: 1000 },
    { result: 'timed_out', allowedMs: 300 },
    { result: 'caller_left', allowedMs: 15_000 },
  ] as const)(
    'is recognised by calls that end without an answer: $result, with $allowedMs ms',
    ({ result, allowedMs }) => {
      const limiters = createTestLimiters({ concurrency: { initial: 8, min: 2, max: 8 } });
      for (let call = 0; call < 20; call++) limiters.runCall('answered', 100);
      const ranMs = Math.min(allowedMs, 400);
      for (let wave = 0; wave < 2; wave++) {
        const permits = ['a', 'b', 'a', 'b', 'a'].map((client) => {
          const outcome = limiters.acquire({ client, deadlineMs: limiters.clock.nowMs + allowedMs });
          return 'release' in outcome ? outcome : null;
        });
        limiters.clock.nowMs += ranMs;
        for (const permit of permits) permit?.release(result);
      }
      expect(readState(limiters)).toBe('open');
      expect(limiters.acquire({ client: 'c' })).toEqual(REFUSED);
      // The limit is unchanged: a short time limit says nothing about the capacity of the server.
      expect(limiters.databaseLimiters.states()[0]?.limit).toBe(8);
    },
  );

  test('is recognised if it never answered before', () => {
    const limiters = createTestLimiters();
    for (const client of ['a', 'b', 'a', 'b', 'a'])
      limiters.runCall('timed_out', 1000, { client, deadlineMs: limiters.clock.nowMs + 1000 });
    expect(readState(limiters)).toBe('open');
  });

  test('is recognised if the operator allows very little time', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 10; call++)
      limiters.runCall('timed_out', 50, {
        client: `c${call % 2}`,
        deadlineMs: limiters.clock.nowMs + 50,
      });
    expect(readState(limiters)).not.toBe('closed');
  });

  test('is not assumed from calls whose callers left before an answer usually comes', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 20; call++) limiters.runCall('answered', 800);
    for (let call = 0; call < 100; call++) limiters.runCall('caller_left', 700, { client: `c${call % 2}` });
    expect(readState(limiters)).toBe('closed');
  });

  test('is not assumed from many calls that end before it could have answered any of them', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 20, min: 20, max: 20 } });
    const permits = Array.from({ length: 20 }, (_, call) =>
      expectPermit(limiters.acquire({ client: `c${call}` })),
    );
    limiters.clock.nowMs += 300;
    for (const permit of permits) permit.release('caller_left');
    expect(readState(limiters)).toBe('closed');
  });

  test('is not assumed from calls that were not sent or that the proxy ended', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 20; call++) limiters.runCall('abandoned', 15_000, { client: `c${call % 2}` });
    expect(readState(limiters)).toBe('closed');
  });

  test('the time before a call is sent does not count as silence of the server', () => {
    const limiters = createTestLimiters();
    for (const client of ['a', 'b', 'a', 'b', 'a', 'b']) {
      const permit = expectPermit(limiters.acquire({ client }));
      limiters.clock.nowMs += 900;
      permit.markSent();
      limiters.clock.nowMs += 100;
      permit.release('caller_left');
    }
    expect(readState(limiters)).toBe('closed');
  });
});

describe('half open', () => {
  test('is not closed by answers to calls that began before it opened', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const early = expectPermit(limiters.acquire({ client: 'c' }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) limiters.runCall('unreachable', 10, { client });
    early.release('answered');
    expect(readState(limiters)).toBe('open');
    expect(limiters.acquire()).toEqual(REFUSED);
  });

  test('sends no probe beyond the bound of an instance', () => {
    const { acquire, clock, runCall } = createTestLimiters();
    const bound = { instance: 'i', max: 1 };
    expectPermit(acquire({ client: 'hanging', bound }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) runCall('unreachable', 10, { client });
    clock.nowMs += 1000;
    expect(acquire({ bound })).toEqual(REFUSED);
    expectPermit(acquire());
  });

  test('sends exactly one probe when the open time is over, whose answer closes the breaker', () => {
    const limiters = openBreaker();
    const { acquire, clock } = limiters;
    clock.nowMs += 999;
    expect(acquire({ client: 'c' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(readState(limiters)).toBe('half_open');
    const probe = expectPermit(acquire({ client: 'c' }));
    for (const client of ['a', 'b', 'c']) expect(acquire({ client })).toEqual(REFUSED);
    probe.release('answered');
    expect(readState(limiters)).toBe('closed');
    expectPermit(acquire());
  });

  test('the concurrency limit starts at its minimum when the breaker closes', () => {
    const { acquire, clock, databaseLimiters } = openBreaker({
      concurrency: { initial: 20, min: 2, max: 50 },
    });
    clock.nowMs += 1000;
    expectPermit(acquire()).release('answered');
    expect(databaseLimiters.states()).toMatchObject([{ breaker: 'closed', limit: 2, retryAfterSeconds: 0 }]);
  });

  test('the open time is one second again after the breaker was closed', () => {
    const limiters = openBreaker();
    const { acquire, clock, runCall } = limiters;
    clock.nowMs += 1000;
    runCall('unreachable');
    clock.nowMs += 2000;
    runCall('answered');
    for (const client of ['a', 'a', 'a', 'a', 'b']) runCall('unreachable', 10, { client });
    clock.nowMs += 1000;
    expectPermit(acquire());
  });

  test.each<PermitResult>(['unreachable', 'timed_out', 'overloaded'])(
    'a probe that is %s doubles the open time, up to half a minute',
    (result) => {
      const { acquire, clock } = openBreaker();
      const times: number[] = [];
      let openMs = 1000;
      for (let probe = 0; probe < 7; probe++) {
        clock.nowMs += openMs;
        expectPermit(acquire()).release(result);
        const refusal = acquire();
        if (!('retryAfterSeconds' in refusal)) throw new Error('not refused');
        times.push(refusal.retryAfterSeconds);
        openMs = refusal.retryAfterSeconds * 1000;
      }
      expect(times).toEqual([2, 4, 8, 16, 30, 30, 30]);
    },
  );

  test('replicas do not probe at the same time', () => {
    const openTimes = [0, 0.5, 1].map((random) => {
      const { acquire, clock } = openBreaker({ random: () => random });
      const openedMs = clock.nowMs;
      while ('refused' in acquire({ client: 'c' })) clock.nowMs++;
      return clock.nowMs - openedMs;
    });
    expect(openTimes).toEqual([1000, 875, 750]);
  });

  test('an abandoned probe allows another one, of another client first', () => {
    const { acquire, clock } = openBreaker();
    clock.nowMs += 1000;
    expectPermit(acquire({ client: 'a' })).release('abandoned');
    expect(acquire({ client: 'a' })).toEqual(REFUSED);
    expectPermit(acquire({ client: 'b' })).release('abandoned');
    clock.nowMs += 1000;
    expectPermit(acquire({ client: 'a' }));
  });

  test('a probe closes the breaker when its answer begins, however slowly the answer is read', () => {
    const limiters = openBreaker();
    const { acquire, clock } = limiters;
    clock.nowMs += 1000;
    const probe = expectPermit(acquire({ client: 'c' }));
    probe.markAnswered();
    expect(readState(limiters)).toBe('closed');
    clock.nowMs += 60_000;
    probe.release('answered');
    expect(limiters.databaseLimiters.states()).toMatchObject([{ breaker: 'closed', running: 0 }]);
  });

  test('calls that have hung since before the breaker opened do not prevent the probe', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 8, min: 2, max: 16 } });
    const { acquire, clock, databaseLimiters } = limiters;
    const deadlineMs = clock.nowMs + 300_000;
    for (let call = 0; call < 4; call++) expectPermit(acquire({ client: 'a', deadlineMs }));
    for (const client of ['b', 'c', 'd']) expectPermit(acquire({ client, deadlineMs }));
    for (let call = 0; call < 4; call++) limiters.runCall('unreachable', 10, { client: 'e' });
    limiters.runCall('timed_out', 3000, { client: 'f' });
    expect(databaseLimiters.states()).toMatchObject([{ breaker: 'open', running: 7, limit: 4 }]);
    clock.nowMs += 1000;
    expectPermit(acquire({ client: 'a' })).release('answered');
    expect(readState(limiters)).toBe('closed');
  });

  test("a probe does not exceed the operator's bound", () => {
    const { acquire, clock, runCall } = createTestLimiters({ concurrency: { initial: 2, min: 2, max: 2 } });
    expectPermit(acquire({ client: 'hanging', deadlineMs: clock.nowMs + 300_000 }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) runCall('unreachable', 10, { client });
    clock.nowMs += 1000;
    expectPermit(acquire({ client: 'c' }));
    clock.nowMs += 5000;
    expect(acquire({ client: 'd' })).toEqual(REFUSED);
  });

  test('a hung probe does not prevent others for ever', () => {
    const limiters = openBreaker();
    const { acquire, clock } = limiters;
    clock.nowMs += 1000;
    const hanging = expectPermit(acquire({ deadlineMs: clock.nowMs + 300_000 }));
    clock.nowMs += 4999;
    expect(acquire({ client: 'b' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(acquire()).toEqual(REFUSED);
    expectPermit(acquire({ client: 'b' })).release('answered');
    hanging.release('timed_out');
    expect(readState(limiters)).toBe('closed');
  });
});

describe('the effect of one client on others', () => {
  const impatient = ({ clock }: TestLimiters, client = 'impatient') => ({
    client,
    deadlineMs: clock.nowMs + 1000,
  });

  test('time-outs of calls with very short time limits do not open the breaker while others are answered', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    for (let round = 0; round < 100; round++) {
      const reports = Array.from({ length: 3 }, (_, call) =>
        expectPermit(limiters.acquire(impatient(limiters, call % 2 ? 'x' : 'y'))),
      );
      limiters.runCall('answered', 1000, { client: 'z' });
      for (const report of reports) report.release('timed_out');
      expect(readState(limiters)).toBe('closed');
    }
  });

  test('time-outs of calls with less time than an answer takes never open the breaker', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 20; call++) limiters.runCall('answered', 8000);
    for (const client of ['x', 'y', 'x', 'y', 'x', 'y'])
      limiters.runCall('timed_out', 5000, { client, deadlineMs: limiters.clock.nowMs + 5000 });
    expect(readState(limiters)).toBe('closed');
    for (const client of ['x', 'y', 'x', 'y', 'x']) limiters.runCall('timed_out', 15_000, { client });
    expect(readState(limiters)).toBe('open');
  });

  test.each([
    { answers: 1, isOneAfterTheOther: true },
    { answers: 1, isOneAfterTheOther: false },
    { answers: 5, isOneAfterTheOther: false },
    { answers: 9, isOneAfterTheOther: true },
    { answers: 10, isOneAfterTheOther: false },
    { answers: 40, isOneAfterTheOther: false },
  ])(
    'time-outs of callers with less time than the answers so far took do not open the breaker: %o',
    ({ answers, isOneAfterTheOther }) => {
      const limiters = createTestLimiters({ concurrency: { initial: 20, min: 4, max: 20 } });
      for (let call = 0; call < answers; call++) limiters.runCall('answered', 1500, { client: `c${call}` });
      const clients = Array.from({ length: 12 }, (_, at) => `impatient${at}`);
      if (isOneAfterTheOther)
        for (const client of clients) limiters.runCall('timed_out', 1000, impatient(limiters, client));
      else {
        const permits = clients.map((client) => expectPermit(limiters.acquire(impatient(limiters, client))));
        limiters.clock.nowMs += 1000;
        for (const permit of permits) permit.release('timed_out');
      }
      expect(readState(limiters)).toBe('closed');
      // Callers with enough time still show that the server hangs.
      for (let call = 0; call < 5; call++)
        limiters.runCall('timed_out', 15_000, { client: `patient${call}` });
      expect(readState(limiters)).toBe('open');
    },
  );

  test('one report of a minute does not hide that the server hangs after it', () => {
    const limiters = createTestLimiters();
    limiters.runCall('answered', 60_000, { client: 'report', deadlineMs: limiters.clock.nowMs + 120_000 });
    for (let call = 0; call < 5; call++) limiters.runCall('timed_out', 15_000, { client: `patient${call}` });
    expect(readState(limiters)).toBe('open');
  });

  test('failures that only one client has seen cause refusals only for that client', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 5; call++) limiters.runCall('timed_out', 15_000, { client: 'x' });
    expect(limiters.acquire({ client: 'x' })).toEqual(REFUSED);
    const other = expectPermit(limiters.acquire({ client: 'y' }));
    other.release('answered');
    expect(readState(limiters)).toBe('closed');
    expectPermit(limiters.acquire({ client: 'x' }));
  });

  test('a failed probe of that client does not open the breaker again after another client was answered', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    for (let call = 0; call < 5; call++) limiters.runCall('unreachable', 10, { client: 'x' });
    limiters.clock.nowMs += 1000;
    const probe = expectPermit(limiters.acquire({ client: 'x' }));
    limiters.runCall('answered', 10, { client: 'y' });
    probe.release('unreachable');
    expect(readState(limiters)).toBe('closed');
  });

  test('all clients are refused once another client has seen a failure too', () => {
    const limiters = createTestLimiters();
    for (let call = 0; call < 5; call++) limiters.runCall('timed_out', 15_000, { client: 'x' });
    limiters.runCall('timed_out', 15_000, { client: 'y' });
    for (const client of ['x', 'y', 'z']) expect(limiters.acquire({ client })).toEqual(REFUSED);
  });

  test('waiting calls of other clients keep their positions', async () => {
    const { acquire, clock } = createTestLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const permits = Array.from({ length: 5 }, () => expectPermit(acquire({ client: 'x' })));
    const ofOther = acquire({ client: 'y', deadlineMs: clock.nowMs + 60_000 });
    clock.nowMs += 15_000;
    for (const permit of permits) permit.release('timed_out');
    expectPermit(await ofOther);
  });

  test('a client whose probes show nothing cannot keep the breaker open for others', () => {
    const limiters = openBreaker();
    const { acquire, clock } = limiters;
    clock.nowMs += 1000;
    for (let probe = 0; probe < 10; probe++) {
      limiters.runCall('timed_out', 1000, impatient(limiters));
      expect(acquire(impatient(limiters))).toEqual(REFUSED);
      clock.nowMs += 1000;
    }
    limiters.runCall('timed_out', 1000, impatient(limiters));
    expectPermit(acquire({ client: 'b' })).release('answered');
    expect(readState(limiters)).toBe('closed');
  });

  test('several clients whose probes show nothing cannot keep it open by alternating', () => {
    const limiters = openBreaker();
    const { acquire, clock } = limiters;
    const clients = ['a', 'b', 'c'];
    clock.nowMs += 1000;
    const tryProbe = () => {
      for (const client of clients) {
        const outcome = acquire(impatient(limiters, client));
        if ('release' in outcome) return outcome;
      }
      return null;
    };
    let probe = tryProbe();
    let refusals = 0;
    for (; refusals < 100; refusals++) {
      clock.nowMs += 1000;
      probe?.release('timed_out');
      probe = tryProbe();
      if ('release' in acquire({ client: 'modest' })) break;
    }
    expect(refusals).toBeLessThan(10);
  });

  test('a client that reads its answer slowly cannot hide a hung server', () => {
    const limiters = createTestLimiters({ concurrency: { initial: 20, min: 8, max: 20 } });
    const { acquire, clock } = limiters;
    const download = expectPermit(acquire({ client: 'slow reader' }));
    download.markAnswered();
    clock.nowMs += 10;
    const hanging = ['a', 'a', 'a', 'b', 'b'].map((client) => expectPermit(acquire({ client })));
    clock.nowMs += 15_000;
    download.release('answered');
    for (const permit of hanging) permit.release('timed_out');
    expect(readState(limiters)).toBe('open');
  });
});

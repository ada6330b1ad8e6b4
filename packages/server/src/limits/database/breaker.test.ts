import { describe, expect, test } from 'vitest';
import { expectPermit, type LimitersTest, openLimiters } from './database-limiters.fixture.ts';
import type { PermitResult } from './database-limiters.ts';

const REFUSED = { refused: 'breaker_open', retryAfterSeconds: 1 };

const readState = ({ gate }: LimitersTest) => gate.states()[0]?.breaker;

/** Five failures that two clients have seen. */
function openBreaker(changes: Parameters<typeof openLimiters>[0] = {}): LimitersTest {
  const test = openLimiters(changes);
  for (const client of ['a', 'a', 'a', 'a', 'b']) test.pass('unreachable', 10, { client });
  expect(readState(test)).toBe('open');
  return test;
}

describe('opening', () => {
  test.each<PermitResult>(['unreachable', 'timed_out'])('opens after five times %s in a row', (result) => {
    const gateTest = openLimiters();
    for (let call = 0; call < 4; call++) gateTest.pass(result, 10);
    gateTest.pass('answered');
    for (let call = 0; call < 4; call++) gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('closed');
    gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('open');
    expect(gateTest.visit()).toEqual(REFUSED);
    expect(gateTest.gate.states()).toMatchObject([{ running: 0, retryAfterSeconds: 1 }]);
  });

  test.each<PermitResult>(['answered', 'overloaded', 'abandoned'])('never opens on %s', (result) => {
    const gateTest = openLimiters();
    for (let call = 0; call < 100; call++) gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('closed');
  });

  test('refuses at once all that wait', async () => {
    const { visit, gate } = openLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const turns = ['a', 'b', 'c', 'd', 'e'].map((client) => expectPermit(visit({ client })));
    const waiting = Array.from({ length: 10 }, (_, call) => visit({ client: `w${call}` }));
    for (const turn of turns) turn.leave('unreachable');
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((outcome) => 'leave' in outcome)).toHaveLength(4);
    expect(outcomes.slice(4)).toEqual(Array(6).fill(REFUSED));
    expect(gate.states()).toMatchObject([{ running: 4, waiting: 0 }]);
  });

  test('has all calls that wait leave at once, and refuses a few at each turn of the event loop', async () => {
    const { visit, gate } = openLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const turns = ['a', 'b', 'c', 'd', 'e'].map((client) => expectPermit(visit({ client })));
    let refused = 0;
    for (let call = 0; call < 500; call++)
      void Promise.resolve(visit({ client: 'w' })).then((outcome) => {
        if ('refused' in outcome) refused++;
      });
    for (const turn of turns) turn.leave('unreachable');
    expect(gate.states()).toMatchObject([{ waiting: 0 }]);
    let most = 0;
    for (let before = -1; refused > before; ) {
      before = refused;
      await new Promise(setImmediate);
      most = Math.max(most, refused - before);
    }
    expect(refused).toBe(500 - (gate.states()[0]?.running ?? 0));
    expect(most).toBeLessThanOrEqual(50);
  });

  test('refuses those as well that wait for the bound of their instance', async () => {
    const { visit, pass } = openLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const bound = { instance: 'i', max: 1 };
    expectPermit(visit({ client: 'hanging', bound }));
    const waiting = visit({ client: 'c', bound });
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    expect(await waiting).toEqual(REFUSED);
  });

  test('failures of calls that began before the server last answered count for nothing', () => {
    const gateTest = openLimiters({ concurrency: { initial: 7, min: 7, max: 7 } });
    const slow = Array.from({ length: 6 }, () => expectPermit(gateTest.visit()));
    gateTest.pass('answered');
    for (const turn of slow) turn.leave('unreachable');
    expect(readState(gateTest)).toBe('closed');
  });
});

describe('a server that hangs', () => {
  test.each([
    { result: 'timed_out', allowedMs: 1000 },
    { result: 'timed_out', allowedMs: 300 },
    { result: 'caller_left', allowedMs: 15_000 },
  ] as const)(
    'is recognised by calls that end without an answer: $result, of $allowedMs ms',
    ({ result, allowedMs }) => {
      const gateTest = openLimiters({ concurrency: { initial: 8, min: 2, max: 8 } });
      for (let call = 0; call < 20; call++) gateTest.pass('answered', 100);
      const ranMs = Math.min(allowedMs, 400);
      for (let wave = 0; wave < 2; wave++) {
        const turns = ['a', 'b', 'a', 'b', 'a'].map((client) => {
          const outcome = gateTest.visit({ client, deadlineMs: gateTest.clock.nowMs + allowedMs });
          return 'leave' in outcome ? outcome : null;
        });
        gateTest.clock.nowMs += ranMs;
        for (const turn of turns) turn?.leave(result);
      }
      expect(readState(gateTest)).toBe('open');
      expect(gateTest.visit({ client: 'c' })).toEqual(REFUSED);
      // The level has not sunk by it: who allows a call little time says nothing of how much the server bears.
      expect(gateTest.gate.states()[0]?.limit).toBe(8);
    },
  );

  test('is recognised where nothing was ever learnt of it', () => {
    const gateTest = openLimiters();
    for (const client of ['a', 'b', 'a', 'b', 'a'])
      gateTest.pass('timed_out', 1000, { client, deadlineMs: gateTest.clock.nowMs + 1000 });
    expect(readState(gateTest)).toBe('open');
  });

  test('is recognised where the operator allows hardly any time', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 10; call++)
      gateTest.pass('timed_out', 50, {
        client: `c${call % 2}`,
        deadlineMs: gateTest.clock.nowMs + 50,
      });
    expect(readState(gateTest)).not.toBe('closed');
  });

  test('is not seen in calls that were left sooner than an answer usually comes', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 20; call++) gateTest.pass('answered', 800);
    for (let call = 0; call < 100; call++) gateTest.pass('caller_left', 700, { client: `c${call % 2}` });
    expect(readState(gateTest)).toBe('closed');
  });

  test('nor in many calls that end at once, before it could have answered any of them', () => {
    const gateTest = openLimiters({ concurrency: { initial: 20, min: 20, max: 20 } });
    const turns = Array.from({ length: 20 }, (_, call) =>
      expectPermit(gateTest.visit({ client: `c${call}` })),
    );
    gateTest.clock.nowMs += 300;
    for (const turn of turns) turn.leave('caller_left');
    expect(readState(gateTest)).toBe('closed');
  });

  test('a call that was not sent, or that the proxy ended, tells nothing', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 20; call++) gateTest.pass('abandoned', 15_000, { client: `c${call % 2}` });
    expect(readState(gateTest)).toBe('closed');
  });

  test('the time before a call is sent is none in which the server was silent', () => {
    const gateTest = openLimiters();
    for (const client of ['a', 'b', 'a', 'b', 'a', 'b']) {
      const turn = expectPermit(gateTest.visit({ client }));
      gateTest.clock.nowMs += 900;
      turn.sending();
      gateTest.clock.nowMs += 100;
      turn.leave('caller_left');
    }
    expect(readState(gateTest)).toBe('closed');
  });
});

describe('half open', () => {
  test('answers to calls from before it opened do not close it', () => {
    const gateTest = openLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    const early = expectPermit(gateTest.visit({ client: 'c' }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) gateTest.pass('unreachable', 10, { client });
    early.leave('answered');
    expect(readState(gateTest)).toBe('open');
    expect(gateTest.visit()).toEqual(REFUSED);
  });

  test('sends no probe beyond what may run', () => {
    const { visit, clock, pass } = openLimiters();
    const bound = { instance: 'i', max: 1 };
    expectPermit(visit({ client: 'hanging', bound }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    clock.nowMs += 1000;
    expect(visit({ bound })).toEqual(REFUSED);
    expectPermit(visit());
  });

  test('lets exactly one probe through when the time is over, whose answer closes it', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 999;
    expect(visit({ client: 'c' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(readState(gateTest)).toBe('half_open');
    const probe = expectPermit(visit({ client: 'c' }));
    for (const client of ['a', 'b', 'c']) expect(visit({ client })).toEqual(REFUSED);
    probe.leave('answered');
    expect(readState(gateTest)).toBe('closed');
    expectPermit(visit());
  });

  test('the level starts from below when it closes', () => {
    const { visit, clock, gate } = openBreaker({ concurrency: { initial: 20, min: 2, max: 50 } });
    clock.nowMs += 1000;
    expectPermit(visit()).leave('answered');
    expect(gate.states()).toMatchObject([{ breaker: 'closed', limit: 2, retryAfterSeconds: 0 }]);
  });

  test('the time begins at a second again once it was closed', () => {
    const gateTest = openBreaker();
    const { visit, clock, pass } = gateTest;
    clock.nowMs += 1000;
    pass('unreachable');
    clock.nowMs += 2000;
    pass('answered');
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    clock.nowMs += 1000;
    expectPermit(visit());
  });

  test.each<PermitResult>(['unreachable', 'timed_out', 'overloaded'])(
    'a probe that is %s doubles the time, up to half a minute',
    (result) => {
      const { visit, clock } = openBreaker();
      const times: number[] = [];
      let openMs = 1000;
      for (let probe = 0; probe < 7; probe++) {
        clock.nowMs += openMs;
        expectPermit(visit()).leave(result);
        const refusal = visit();
        if (!('retryAfterSeconds' in refusal)) throw new Error('not refused');
        times.push(refusal.retryAfterSeconds);
        openMs = refusal.retryAfterSeconds * 1000;
      }
      expect(times).toEqual([2, 4, 8, 16, 30, 30, 30]);
    },
  );

  test('replicas do not probe all at once', () => {
    const openTimes = [0, 0.5, 1].map((random) => {
      const { visit, clock } = openBreaker({ random: () => random });
      const openedMs = clock.nowMs;
      while ('refused' in visit({ client: 'c' })) clock.nowMs++;
      return clock.nowMs - openedMs;
    });
    expect(openTimes).toEqual([1000, 875, 750]);
  });

  test('a probe that is abandoned frees its place, for another client first', () => {
    const { visit, clock } = openBreaker();
    clock.nowMs += 1000;
    expectPermit(visit({ client: 'a' })).leave('abandoned');
    expect(visit({ client: 'a' })).toEqual(REFUSED);
    expectPermit(visit({ client: 'b' })).leave('abandoned');
    clock.nowMs += 1000;
    expectPermit(visit({ client: 'a' }));
  });

  test('a probe closes it as soon as its answer begins, however long the answer takes to read', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 1000;
    const probe = expectPermit(visit({ client: 'c' }));
    probe.answered();
    expect(readState(gateTest)).toBe('closed');
    clock.nowMs += 60_000;
    probe.leave('answered');
    expect(gateTest.gate.states()).toMatchObject([{ breaker: 'closed', running: 0 }]);
  });

  test('calls that still hang since before it opened do not keep the probe away', () => {
    const gateTest = openLimiters({ concurrency: { initial: 8, min: 2, max: 16 } });
    const { visit, clock, gate } = gateTest;
    const deadlineMs = clock.nowMs + 300_000;
    for (let call = 0; call < 4; call++) expectPermit(visit({ client: 'a', deadlineMs }));
    for (const client of ['b', 'c', 'd']) expectPermit(visit({ client, deadlineMs }));
    for (let call = 0; call < 4; call++) gateTest.pass('unreachable', 10, { client: 'e' });
    gateTest.pass('timed_out', 3000, { client: 'f' });
    expect(gate.states()).toMatchObject([{ breaker: 'open', running: 7, limit: 4 }]);
    clock.nowMs += 1000;
    expectPermit(visit({ client: 'a' })).leave('answered');
    expect(readState(gateTest)).toBe('closed');
  });

  test("nor does a probe exceed the operator's bound", () => {
    const { visit, clock, pass } = openLimiters({ concurrency: { initial: 2, min: 2, max: 2 } });
    expectPermit(visit({ client: 'hanging', deadlineMs: clock.nowMs + 300_000 }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    clock.nowMs += 1000;
    expectPermit(visit({ client: 'c' }));
    clock.nowMs += 5000;
    expect(visit({ client: 'd' })).toEqual(REFUSED);
  });

  test('a probe that hangs does not hold its place for ever', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 1000;
    const hanging = expectPermit(visit({ deadlineMs: clock.nowMs + 300_000 }));
    clock.nowMs += 4999;
    expect(visit({ client: 'b' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(visit()).toEqual(REFUSED);
    expectPermit(visit({ client: 'b' })).leave('answered');
    hanging.leave('timed_out');
    expect(readState(gateTest)).toBe('closed');
  });
});

describe('what one client can do to others', () => {
  const impatient = ({ clock }: LimitersTest, client = 'impatient') => ({
    client,
    deadlineMs: clock.nowMs + 1000,
  });

  test('time-outs of calls that were given hardly any time open nothing while others are answered', () => {
    const gateTest = openLimiters({ concurrency: { initial: 8, min: 1, max: 8 } });
    for (let round = 0; round < 100; round++) {
      const reports = Array.from({ length: 3 }, (_, call) =>
        expectPermit(gateTest.visit(impatient(gateTest, call % 2 ? 'x' : 'y'))),
      );
      gateTest.pass('answered', 1000, { client: 'z' });
      for (const report of reports) report.leave('timed_out');
      expect(readState(gateTest)).toBe('closed');
    }
  });

  test('nor do those of calls that were given less than an answer takes, ever', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 20; call++) gateTest.pass('answered', 8000);
    for (const client of ['x', 'y', 'x', 'y', 'x', 'y'])
      gateTest.pass('timed_out', 5000, { client, deadlineMs: gateTest.clock.nowMs + 5000 });
    expect(readState(gateTest)).toBe('closed');
    for (const client of ['x', 'y', 'x', 'y', 'x']) gateTest.pass('timed_out', 15_000, { client });
    expect(readState(gateTest)).toBe('open');
  });

  test('failures that one client alone has seen are held against that client alone', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 5; call++) gateTest.pass('timed_out', 15_000, { client: 'x' });
    expect(gateTest.visit({ client: 'x' })).toEqual(REFUSED);
    const other = expectPermit(gateTest.visit({ client: 'y' }));
    other.leave('answered');
    expect(readState(gateTest)).toBe('closed');
    expectPermit(gateTest.visit({ client: 'x' }));
  });

  test('whose probe may still fail when another has been answered', () => {
    const gateTest = openLimiters({ concurrency: { initial: 8, min: 8, max: 8 } });
    for (let call = 0; call < 5; call++) gateTest.pass('unreachable', 10, { client: 'x' });
    gateTest.clock.nowMs += 1000;
    const probe = expectPermit(gateTest.visit({ client: 'x' }));
    gateTest.pass('answered', 10, { client: 'y' });
    probe.leave('unreachable');
    expect(readState(gateTest)).toBe('closed');
  });

  test('until another client has seen one too', () => {
    const gateTest = openLimiters();
    for (let call = 0; call < 5; call++) gateTest.pass('timed_out', 15_000, { client: 'x' });
    gateTest.pass('timed_out', 15_000, { client: 'y' });
    for (const client of ['x', 'y', 'z']) expect(gateTest.visit({ client })).toEqual(REFUSED);
  });

  test('those of others that wait keep their places', async () => {
    const { visit, clock } = openLimiters({ concurrency: { initial: 5, min: 5, max: 5 } });
    const turns = Array.from({ length: 5 }, () => expectPermit(visit({ client: 'x' })));
    const ofOther = visit({ client: 'y', deadlineMs: clock.nowMs + 60_000 });
    clock.nowMs += 15_000;
    for (const turn of turns) turn.leave('timed_out');
    expectPermit(await ofOther);
  });

  test('one whose probes never tell anything cannot keep it open for the others', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 1000;
    for (let probe = 0; probe < 10; probe++) {
      gateTest.pass('timed_out', 1000, impatient(gateTest));
      expect(visit(impatient(gateTest))).toEqual(REFUSED);
      clock.nowMs += 1000;
    }
    gateTest.pass('timed_out', 1000, impatient(gateTest));
    expectPermit(visit({ client: 'b' })).leave('answered');
    expect(readState(gateTest)).toBe('closed');
  });

  test('nor can several clients by turns, whose probes never tell anything', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    const clients = ['a', 'b', 'c'];
    clock.nowMs += 1000;
    const tryProbe = () => {
      for (const client of clients) {
        const outcome = visit(impatient(gateTest, client));
        if ('leave' in outcome) return outcome;
      }
      return null;
    };
    let probe = tryProbe();
    let refusals = 0;
    for (; refusals < 100; refusals++) {
      clock.nowMs += 1000;
      probe?.leave('timed_out');
      probe = tryProbe();
      if ('leave' in visit({ client: 'modest' })) break;
    }
    expect(refusals).toBeLessThan(10);
  });

  test('nor can a reader that takes its answer slowly hide that a server hangs', () => {
    const gateTest = openLimiters({ concurrency: { initial: 20, min: 8, max: 20 } });
    const { visit, clock } = gateTest;
    const download = expectPermit(visit({ client: 'slow reader' }));
    download.answered();
    clock.nowMs += 10;
    const hanging = ['a', 'a', 'a', 'b', 'b'].map((client) => expectPermit(visit({ client })));
    clock.nowMs += 15_000;
    download.leave('answered');
    for (const turn of hanging) turn.leave('timed_out');
    expect(readState(gateTest)).toBe('open');
  });
});

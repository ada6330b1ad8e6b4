import { describe, expect, test } from 'vitest';
import { expectTurn, type GateTest, openGate } from './gate.fixture.ts';
import type { TurnResult } from './gate.ts';

const REFUSED = { refused: 'breaker_open', retryAfterSeconds: 1 };

const readState = ({ gate }: GateTest) => gate.states()[0]?.breaker;

/** Five failures that two clients have seen. */
function openBreaker(changes: Parameters<typeof openGate>[0] = {}): GateTest {
  const test = openGate(changes);
  for (const client of ['a', 'a', 'a', 'a', 'b']) test.pass('unreachable', 10, { client });
  expect(readState(test)).toBe('open');
  return test;
}

describe('opening', () => {
  test.each<TurnResult>(['unreachable', 'timed_out'])('opens after five times %s in a row', (result) => {
    const gateTest = openGate();
    for (let call = 0; call < 4; call++) gateTest.pass(result, 10);
    gateTest.pass('answered');
    for (let call = 0; call < 4; call++) gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('closed');
    gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('open');
    expect(gateTest.visit()).toEqual(REFUSED);
    expect(gateTest.gate.states()).toMatchObject([{ running: 0, retryAfterSeconds: 1 }]);
  });

  test.each<TurnResult>(['answered', 'overloaded', 'abandoned'])('never opens on %s', (result) => {
    const gateTest = openGate();
    for (let call = 0; call < 100; call++) gateTest.pass(result, 10);
    expect(readState(gateTest)).toBe('closed');
  });

  test('refuses at once all that wait', async () => {
    const { visit, gate } = openGate({ concurrency: { initial: 5, min: 5, max: 5 } });
    const turns = ['a', 'b', 'c', 'd', 'e'].map((client) => expectTurn(visit({ client })));
    const waiting = Array.from({ length: 10 }, (_, call) => visit({ client: `w${call}` }));
    for (const turn of turns) turn.leave('unreachable');
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((outcome) => 'leave' in outcome)).toHaveLength(4);
    expect(outcomes.slice(4)).toEqual(Array(6).fill(REFUSED));
    expect(gate.states()).toMatchObject([{ running: 4, waiting: 0 }]);
  });

  test('refuses those as well that wait for the bound of their instance', async () => {
    const { visit, pass } = openGate({ concurrency: { initial: 5, min: 5, max: 5 } });
    const bound = { instance: 'i', max: 1 };
    expectTurn(visit({ client: 'hanging', bound }));
    const waiting = visit({ client: 'c', bound });
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    expect(await waiting).toEqual(REFUSED);
  });

  test('failures of calls that began before the server last answered count for nothing', () => {
    const gateTest = openGate({ concurrency: { initial: 7, min: 7, max: 7 } });
    const slow = Array.from({ length: 6 }, () => expectTurn(gateTest.visit()));
    gateTest.pass('answered');
    for (const turn of slow) turn.leave('unreachable');
    expect(readState(gateTest)).toBe('closed');
  });
});

describe('half open', () => {
  test('answers to calls from before it opened do not close it', () => {
    const gateTest = openGate({ concurrency: { initial: 8, min: 8, max: 8 } });
    const early = expectTurn(gateTest.visit({ client: 'c' }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) gateTest.pass('unreachable', 10, { client });
    early.leave('answered');
    expect(readState(gateTest)).toBe('open');
    expect(gateTest.visit()).toEqual(REFUSED);
  });

  test('sends no probe beyond what may run', () => {
    const { visit, clock, pass } = openGate();
    const bound = { instance: 'i', max: 1 };
    expectTurn(visit({ client: 'hanging', bound }));
    for (const client of ['a', 'a', 'a', 'a', 'b']) pass('unreachable', 10, { client });
    clock.nowMs += 1000;
    expect(visit({ bound })).toEqual(REFUSED);
    expectTurn(visit());
  });

  test('lets exactly one probe through when the time is over, whose answer closes it', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 999;
    expect(visit({ client: 'c' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(readState(gateTest)).toBe('half_open');
    const probe = expectTurn(visit({ client: 'c' }));
    for (const client of ['a', 'b', 'c']) expect(visit({ client })).toEqual(REFUSED);
    probe.leave('answered');
    expect(readState(gateTest)).toBe('closed');
    expectTurn(visit());
  });

  test('the level starts from below when it closes', () => {
    const { visit, clock, gate } = openBreaker({ concurrency: { initial: 20, min: 2, max: 50 } });
    clock.nowMs += 1000;
    expectTurn(visit()).leave('answered');
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
    expectTurn(visit());
  });

  test.each<TurnResult>(['unreachable', 'timed_out', 'overloaded'])(
    'a probe that is %s doubles the time, up to half a minute',
    (result) => {
      const { visit, clock } = openBreaker();
      const times: number[] = [];
      let openMs = 1000;
      for (let probe = 0; probe < 7; probe++) {
        clock.nowMs += openMs;
        expectTurn(visit()).leave(result);
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
    expectTurn(visit({ client: 'a' })).leave('abandoned');
    expect(visit({ client: 'a' })).toEqual(REFUSED);
    expectTurn(visit({ client: 'b' })).leave('abandoned');
    clock.nowMs += 1000;
    expectTurn(visit({ client: 'a' }));
  });

  test('a probe that hangs does not hold its place for ever', () => {
    const gateTest = openBreaker();
    const { visit, clock } = gateTest;
    clock.nowMs += 1000;
    const hanging = expectTurn(visit({ deadlineMs: clock.nowMs + 300_000 }));
    clock.nowMs += 4999;
    expect(visit({ client: 'b' })).toEqual(REFUSED);
    clock.nowMs += 1;
    expect(visit()).toEqual(REFUSED);
    expectTurn(visit({ client: 'b' })).leave('answered');
    hanging.leave('timed_out');
    expect(readState(gateTest)).toBe('closed');
  });
});

describe('what one client can do to others', () => {
  const impatient = ({ clock }: GateTest, client = 'impatient') => ({
    client,
    deadlineMs: clock.nowMs + 1000,
  });

  test('time-outs of calls that were given hardly any time open nothing and halve nothing', () => {
    const gateTest = openGate({ concurrency: { initial: 8, min: 1, max: 8 } });
    for (let call = 0; call < 100; call++)
      gateTest.pass('timed_out', 1000, impatient(gateTest, call % 2 ? 'x' : 'y'));
    expect(gateTest.gate.states()).toMatchObject([{ breaker: 'closed', limit: 8 }]);
  });

  test('nor do those of calls that were given less than an answer takes', () => {
    const gateTest = openGate();
    for (let call = 0; call < 20; call++) gateTest.pass('answered', 8000);
    for (const client of ['x', 'y', 'x', 'y', 'x', 'y'])
      gateTest.pass('timed_out', 5000, { client, deadlineMs: gateTest.clock.nowMs + 5000 });
    expect(readState(gateTest)).toBe('closed');
    for (const client of ['x', 'y', 'x', 'y', 'x']) gateTest.pass('timed_out', 15_000, { client });
    expect(readState(gateTest)).toBe('open');
  });

  test('failures that one client alone has seen are held against that client alone', () => {
    const gateTest = openGate();
    for (let call = 0; call < 5; call++) gateTest.pass('timed_out', 15_000, { client: 'x' });
    expect(gateTest.visit({ client: 'x' })).toEqual(REFUSED);
    const other = expectTurn(gateTest.visit({ client: 'y' }));
    other.leave('answered');
    expect(readState(gateTest)).toBe('closed');
    expectTurn(gateTest.visit({ client: 'x' }));
  });

  test('whose probe may still fail when another has been answered', () => {
    const gateTest = openGate({ concurrency: { initial: 8, min: 8, max: 8 } });
    for (let call = 0; call < 5; call++) gateTest.pass('unreachable', 10, { client: 'x' });
    gateTest.clock.nowMs += 1000;
    const probe = expectTurn(gateTest.visit({ client: 'x' }));
    gateTest.pass('answered', 10, { client: 'y' });
    probe.leave('unreachable');
    expect(readState(gateTest)).toBe('closed');
  });

  test('until another client has seen one too', () => {
    const gateTest = openGate();
    for (let call = 0; call < 5; call++) gateTest.pass('timed_out', 15_000, { client: 'x' });
    gateTest.pass('timed_out', 15_000, { client: 'y' });
    for (const client of ['x', 'y', 'z']) expect(gateTest.visit({ client })).toEqual(REFUSED);
  });

  test('those of others that wait keep their places', async () => {
    const { visit, clock } = openGate({ concurrency: { initial: 5, min: 5, max: 5 } });
    const turns = Array.from({ length: 5 }, () => expectTurn(visit({ client: 'x' })));
    const ofOther = visit({ client: 'y', deadlineMs: clock.nowMs + 60_000 });
    clock.nowMs += 15_000;
    for (const turn of turns) turn.leave('timed_out');
    expectTurn(await ofOther);
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
    expectTurn(visit({ client: 'b' })).leave('answered');
    expect(readState(gateTest)).toBe('closed');
  });
});

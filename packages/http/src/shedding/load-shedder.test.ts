/** Tests which requests are admitted, wait or are refused, in simulated time. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { LoadShedder } from './load-shedder.ts';
import { CALLS_PER_SECOND_MAX, type RequestTimes, SimulatedProcess } from './simulated-process.fixture.ts';

const countSince = (list: readonly RequestTimes[], sinceMs: number) =>
  list.filter(({ endedMs }) => endedMs >= sinceMs).length;

/** The longest duration of a request, in simulated seconds. */
const findLongestSeconds = (list: readonly RequestTimes[]) =>
  list.reduce((longest, { sentMs, endedMs }) => Math.max(longest, (endedMs - sentMs) / 1000), 0);

describe('no request is refused', () => {
  test('while there is processor time, and none waits', () => {
    const process = new SimulatedProcess(100);
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 5);
    expect(process.refused).toHaveLength(0);
    expect(process.answered.length).toBeGreaterThan(2.4 * CALLS_PER_SECOND_MAX);
    expect(findLongestSeconds(process.answered)).toBeLessThan(0.02);
  });

  test('after a stall, however many requests arrived meanwhile', () => {
    const process = new SimulatedProcess(4000);
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 1);
    process.nowMs += 1000;
    for (let count = 0; count < 0.5 * CALLS_PER_SECOND_MAX; count++) process.send();
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 5);
    expect(process.refused).toHaveLength(0);
  });

  test('of a burst that can be served in a second', () => {
    const process = new SimulatedProcess(4000);
    for (let count = 0; count < CALLS_PER_SECOND_MAX; count++) process.send();
    process.offer(0, 3);
    expect(process.refused).toHaveLength(0);
    expect(process.answered.length).toBeGreaterThan(0.99 * CALLS_PER_SECOND_MAX);
  });

  test('because of calls that wait for Odoo, however many', () => {
    const process = new SimulatedProcess(10_000);
    process.isOdooUp = false;
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 6.5);
    expect(process.waitingForOdoo).toBeGreaterThan(9000);
    expect(process.refused).toHaveLength(0);
    expect(process.notSent).toBe(0);
  });

  test('if callers wait for their answers, and are few enough that all are served soon', () => {
    const process = new SimulatedProcess(500);
    process.offer(5 * CALLS_PER_SECOND_MAX, 6);
    expect(process.refused).toHaveLength(0);
    expect(findLongestSeconds(process.answered)).toBeLessThan(0.3);
  });
});

describe('a burst', () => {
  test('is served whole within ten seconds, beside other calls', () => {
    const seed = Date.now() % 1_000_000;
    console.info('bursts: seed', seed);
    const random = createRandom(seed);
    for (let round = 0; round < 20; round++) {
      const process = new SimulatedProcess(40_000);
      const share = 0.5 * random();
      process.offer(share * CALLS_PER_SECOND_MAX, 1);
      // Duration of the burst, in seconds of work. The simulated process loses a part of its time to turns.
      const seconds = 8 * random();
      const count = Math.floor(0.9 * (1 - share) * seconds * CALLS_PER_SECOND_MAX);
      for (let sent = 0; sent < count; sent++) process.send();
      process.offer(share * CALLS_PER_SECOND_MAX, 11);
      expect(process.refused.length, `round ${round}`).toBe(0);
      expect(findLongestSeconds(process.answered), `round ${round}`).toBeLessThan(10);
    }
  });

  test('is served whole although the process stalls', () => {
    const process = new SimulatedProcess(20_000);
    for (let count = 0; count < 5 * CALLS_PER_SECOND_MAX; count++) process.send();
    for (let stall = 0; stall < 3; stall++) {
      process.nowMs += stall === 0 ? 2500 : 400;
      process.offer(0, 1.2);
    }
    process.offer(0, 5);
    expect(process.refused).toHaveLength(0);
  });

  test('that takes longer is cut to what is served within ten seconds', () => {
    const process = new SimulatedProcess(60_000);
    for (let count = 0; count < 20 * CALLS_PER_SECOND_MAX; count++) process.send();
    process.offer(0, 30);
    expect(process.answered.length + process.refused.length).toBeGreaterThan(19.9 * CALLS_PER_SECOND_MAX);
    expect(findLongestSeconds(process.answered)).toBeLessThan(11);
    expect(process.answered.length).toBeGreaterThan(5 * CALLS_PER_SECOND_MAX);
  });
});

describe('at five times the maximum rate', () => {
  const process = new SimulatedProcess(8000);
  process.offer(5 * CALLS_PER_SECOND_MAX, 12);
  const endedMs = process.nowMs;

  test('four fifths of the maximum rate are served', () => {
    expect(countSince(process.answered, 1000) / 11 / CALLS_PER_SECOND_MAX).toBeGreaterThan(0.8);
  });

  test('calls are served or refused soon, after the first seconds', () => {
    const isLater = ({ sentMs }: RequestTimes) => sentMs > 5000;
    expect(findLongestSeconds(process.answered.filter(isLater))).toBeLessThan(0.1);
    expect(findLongestSeconds(process.refused.filter(isLater))).toBeLessThan(0.02);
    expect(process.running).toBeLessThan(100);
  });

  test('callers that send again at once are answered within three seconds', () => {
    expect(process.refused.length).toBeGreaterThan(10_000);
    expect(findLongestSeconds([...process.refused, ...process.answered])).toBeLessThan(3);
  });

  test('reports the number of refusals', () => {
    expect(process.reportedRefusals).toBe(process.refused.length);
  });

  test('all calls are served again within five seconds after it ends', () => {
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 8);
    expect(countSince(process.refused, endedMs + 5000)).toBe(0);
    expect(countSince(process.answered, endedMs + 5000)).toBeGreaterThan(1.4 * CALLS_PER_SECOND_MAX);
  });
});

test('refusals take only a share of the time, however slow they are; the other requests keep waiting', () => {
  const process = new SimulatedProcess(8000, { refusalMs: 1 });
  process.offer(5 * CALLS_PER_SECOND_MAX, 12);
  expect(countSince(process.answered, 1000) / 11 / CALLS_PER_SECOND_MAX).toBeGreaterThan(0.7);
  expect(process.refused.length).toBeGreaterThan(1000);
});

/** Creates a load shedder whose turns the test ends, and a record of its decisions. */
function createManualShedder() {
  let nowMs = 0;
  const endOfTurn: (() => void)[] = [];
  const loadShedder = new LoadShedder({
    nowMs: () => nowMs,
    atEndOfTurn: (callback) => endOfTurn.push(callback),
    onRefused: () => {},
  });
  const done: string[] = [];
  return {
    loadShedder,
    done,
    submit: (hasCallerLeft = false) =>
      loadShedder.submit({
        hasCallerLeft,
        admit: () => done.push('admitted'),
        refuse: () => done.push('refused'),
      }),
    endTurns(count: number) {
      for (let turn = 0; turn < count; turn++) {
        nowMs += 30;
        for (const callback of endOfTurn.splice(0)) callback();
      }
    },
  };
}

test('a request whose caller left while it waited is neither admitted nor refused', () => {
  const { submit, endTurns, done } = createManualShedder();
  // More requests than one turn admits.
  for (let count = 0; count < 16; count++) submit();
  for (let count = 0; count < 100; count++) submit(true);
  endTurns(200);
  expect(done).toEqual(Array(16).fill('admitted'));
});

test('admitAll admits every waiting request whose caller has not left', () => {
  const { loadShedder, submit, done } = createManualShedder();
  for (let count = 0; count < 1000; count++) submit(count >= 500);
  loadShedder.admitAll();
  expect(done).toEqual(Array(500).fill('admitted'));
});

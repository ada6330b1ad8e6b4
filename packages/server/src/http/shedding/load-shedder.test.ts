/** Who is let in, who waits and who is refused, in simulated time. */
import { describe, expect, test } from 'vitest';
import { LoadShedder } from './load-shedder.ts';
import { CALLS_PER_SECOND_MAX, type Fate, SimulatedProcess } from './simulated-process.fixture.ts';

const countSince = (fates: readonly Fate[], sinceMs: number) =>
  fates.filter(({ endedMs }) => endedMs >= sinceMs).length;

const findLongestMs = (fates: readonly Fate[]) =>
  fates.reduce((longest, { sentMs, endedMs }) => Math.max(longest, endedMs - sentMs), 0);

describe('nobody is refused', () => {
  test('by a process that has time, and nobody waits', () => {
    const process = new SimulatedProcess(100);
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 5);
    expect(process.refused).toHaveLength(0);
    expect(process.answered.length).toBeGreaterThan(2.4 * CALLS_PER_SECOND_MAX);
    expect(findLongestMs(process.answered)).toBeLessThan(20);
  });

  test('after a stall, whatever has come meanwhile', () => {
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

  test('because calls wait for Odoo, however many they are', () => {
    const process = new SimulatedProcess(10_000);
    process.isOdooUp = false;
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 6.5);
    expect(process.atOdoo).toBeGreaterThan(9000);
    expect(process.refused).toHaveLength(0);
    expect(process.notSent).toBe(0);
  });

  test('of callers that each wait for their answer and are so few that all are served soon', () => {
    const process = new SimulatedProcess(500);
    process.offer(5 * CALLS_PER_SECOND_MAX, 6);
    expect(process.refused).toHaveLength(0);
    expect(findLongestMs(process.answered)).toBeLessThan(300);
  });
});

describe('at five times what can be served', () => {
  const process = new SimulatedProcess(8000);
  process.offer(5 * CALLS_PER_SECOND_MAX, 12);
  const overMs = process.nowMs;

  test('four fifths of that are served', () => {
    expect(countSince(process.answered, 1000) / 11 / CALLS_PER_SECOND_MAX).toBeGreaterThan(0.8);
  });

  test('who sends is served soon or refused soon, after the first seconds', () => {
    const isLater = ({ sentMs }: Fate) => sentMs > 5000;
    expect(findLongestMs(process.answered.filter(isLater))).toBeLessThan(100);
    expect(findLongestMs(process.refused.filter(isLater))).toBeLessThan(20);
    expect(process.running).toBeLessThan(100);
  });

  test('who sends again at once has an answer within three seconds', () => {
    expect(process.refused.length).toBeGreaterThan(10_000);
    expect(findLongestMs([...process.refused, ...process.answered])).toBeLessThan(3000);
  });

  test('says how many were refused', () => {
    expect(process.told).toBe(process.refused.length);
  });

  test('all is served again within five seconds of its end', () => {
    process.offer(0.5 * CALLS_PER_SECOND_MAX, 8);
    expect(countSince(process.refused, overMs + 5000)).toBe(0);
    expect(countSince(process.answered, overMs + 5000)).toBeGreaterThan(1.4 * CALLS_PER_SECOND_MAX);
  });
});

test('refusals take a part of the time, however slow they are; who is not refused goes on waiting', () => {
  const process = new SimulatedProcess(8000, { refusalMs: 1 });
  process.offer(5 * CALLS_PER_SECOND_MAX, 12);
  expect(countSince(process.answered, 1000) / 11 / CALLS_PER_SECOND_MAX).toBeGreaterThan(0.7);
  expect(process.refused.length).toBeGreaterThan(1000);
});

/** A door whose turns end when the test says so, and what it did. */
function openLoadShedder() {
  let nowMs = 0;
  const endOfTurn: (() => void)[] = [];
  const door = new LoadShedder({
    nowMs: () => nowMs,
    atEndOfTurn: (callback) => endOfTurn.push(callback),
    onRefused: () => {},
  });
  const seen: string[] = [];
  return {
    door,
    seen,
    visit: (hasLeft = false) =>
      door.enter({
        hasLeft,
        letIn: () => seen.push('in'),
        refuse: () => seen.push('refused'),
      }),
    endTurns(count: number) {
      for (let turn = 0; turn < count; turn++) {
        nowMs += 30;
        for (const callback of endOfTurn.splice(0)) callback();
      }
    },
  };
}

test('who has left while waiting is neither let in nor refused', () => {
  const { visit, endTurns, seen } = openLoadShedder();
  // More than are let in in one turn.
  for (let count = 0; count < 16; count++) visit();
  for (let count = 0; count < 100; count++) visit(true);
  endTurns(200);
  expect(seen).toEqual(Array(16).fill('in'));
});

test('at the end lets in whoever waits, but those who have left', () => {
  const { door, visit, seen } = openLoadShedder();
  for (let count = 0; count < 1000; count++) visit(count >= 500);
  door.letAllIn();
  expect(seen).toEqual(Array(500).fill('in'));
});

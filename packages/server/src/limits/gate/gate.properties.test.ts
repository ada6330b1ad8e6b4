/** What holds after any history of visits, ends, answers and failures. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGate } from './gate.fixture.ts';
import type { Refusal, Turn, TurnResult } from './gate.ts';
import type { InstanceBound } from './visitor.ts';

const INITIAL = 3;
const MAX = 6;

/** Of instances; both databases have those. */
const BOUNDS: InstanceBound[] = [
  { instance: 'i', max: 1 },
  { instance: 'j', max: 2 },
  { instance: 'k', max: 9 },
];

const RESULTS: TurnResult[] = ['answered', 'timed_out', 'unreachable', 'overloaded', 'abandoned'];

const STEPS = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        act: fc.constant('visit' as const),
        client: fc.constantFrom('a', 'b', 'c'),
        database: fc.constantFrom('one', 'two'),
        patienceMs: fc.constantFrom(500, 5000, 60_000),
        bound: fc.constantFrom(null, ...BOUNDS),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        act: fc.constant('leave' as const),
        pick: fc.nat(),
        result: fc.oneof(fc.constant<TurnResult>('answered'), fc.constantFrom(...RESULTS)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('end' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('pass time' as const), ms: fc.nat(3000) }) },
  ),
  { maxLength: 300, size: 'max' },
);

interface Visit {
  database: string;
  bound: InstanceBound | null;
  ending: AbortController;
  outcomes: (Turn | Refusal)[];
  isOver: boolean;
}

test('every visit has one outcome, no more run than may, and nothing stays behind', async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (history) => {
      const { gate, clock, visit } = openGate({
        concurrency: { initial: INITIAL, min: 1, max: MAX },
        queueMax: 5,
        databasesMax: 2,
      });
      const visits: Visit[] = [];
      const started = (): Visit[] =>
        visits.filter(({ outcomes: [outcome], isOver }) => !isOver && outcome && 'leave' in outcome);
      const leave = (one: Visit, result: TurnResult) => {
        one.isOver = true;
        const [turn] = one.outcomes;
        if (turn && 'leave' in turn) turn.leave(result);
      };
      /** Lets those know that have been given an outcome, and compares the gate's count with ours. */
      const check = async () => {
        await Promise.resolve();
        const states = gate.states();
        for (const database of ['one', 'two']) {
          const state = states.find((one) => one.database === database);
          const runningNow = started().filter((one) => one.database === database);
          const countOf = ({ instance }: InstanceBound) =>
            runningNow.filter(({ bound }) => bound?.instance === instance).length;
          const waitingNow = visits.filter((one) => one.database === database && one.outcomes.length === 0);
          const running = runningNow.length;
          const waiting = waitingNow.length;
          expect(state?.running ?? 0).toBe(running);
          expect(state?.waiting ?? 0).toBe(waiting);
          expect(running).toBeLessThanOrEqual(MAX);
          expect(waiting).toBeLessThanOrEqual(5);
          for (const bound of BOUNDS) expect(countOf(bound)).toBeLessThanOrEqual(bound.max);
          // Who waits, waits for somebody: for a place at the database, or for one of its own instance.
          if (state !== undefined && running < state.limit)
            for (const { bound } of waitingNow) expect(bound && countOf(bound)).toBe(bound?.max ?? 'a turn');
        }
      };
      for (const step of history) {
        if (step.act === 'visit') {
          const { client, database, patienceMs, bound } = step;
          const ending = new AbortController();
          const one: Visit = { database, bound, ending, outcomes: [], isOver: false };
          visits.push(one);
          const before = gate.states().find((state) => state.database === database);
          const outcome = visit({
            client,
            database,
            bound,
            signal: ending.signal,
            deadlineMs: clock.nowMs + patienceMs,
          });
          if (outcome instanceof Promise) outcome.then((settled) => one.outcomes.push(settled));
          else one.outcomes.push(outcome);
          if ('leave' in outcome && before !== undefined) expect(before.running).toBeLessThan(before.limit);
        } else if (step.act === 'leave') {
          const running = started();
          const one = running[step.pick % running.length];
          if (one !== undefined) leave(one, step.result);
        } else if (step.act === 'end') {
          visits[step.pick % visits.length]?.ending.abort();
        } else {
          clock.nowMs += step.ms;
        }
        await check();
      }
      for (let running = started(); running.length > 0; running = started()) {
        for (const one of running) leave(one, 'answered');
        await check();
      }
      for (const { outcomes } of visits) expect(outcomes).toHaveLength(1);
      for (const state of gate.states()) expect(state).toMatchObject({ running: 0, waiting: 0 });
    }),
  );
});

import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { CollectingWriter } from './answers.fixture.ts';
import { createIdempotency } from './idempotency.ts';
import type { AttemptOutcome, IdempotentCall } from './idempotent-call.ts';

const HOUR_MS = 3_600_000;

/** Ways in which an attempt that was sent can end. */
const ENDS = [
  { hasRun: true, outcome: 'answered' },
  { hasRun: false, outcome: 'answered' },
  { hasRun: false, outcome: 'not_run' },
  { hasRun: true, outcome: 'unknown' },
  { hasRun: false, outcome: 'unknown' },
  // The process was killed: the outcome is never stored.
  { hasRun: true, outcome: null },
  { hasRun: false, outcome: null },
] satisfies { hasRun: boolean; outcome: AttemptOutcome | null }[];

type Step =
  | { kind: 'start' }
  | { kind: 'end'; index: number; end: (typeof ENDS)[number] }
  | { kind: 'clock'; ms: number };

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('start' as const) }),
    fc.record({ kind: fc.constant('end' as const), index: fc.nat(5), end: fc.constantFrom(...ENDS) }),
    // The clock moves in both directions, in total by less than the day for which keys are stored.
    fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.integer({ min: -HOUR_MS / 2, max: HOUR_MS / 2 }),
    }),
  ),
  { maxLength: 40 },
);

test('no call runs twice, and every retry gets the answer of the run, whichever attempts are cut off, late or repeated', async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      let now = 100 * HOUR_MS;
      const idempotency = createIdempotency({
        store: openMemoryStore({ clock: () => now }).idempotency,
        secret: new Uint8Array(32),
        keptForMs: 24 * HOUR_MS,
        answerBytesMax: 100,
        clientBounds: { keysMax: 1000, answerBytesMax: 10_000 },
        nowMs: () => 0,
        onError: (error) => expect.unreachable(String(error)),
      });
      const open: IdempotentCall[] = [];
      let runs = 0;
      let given: string | null = null;
      let isEnded = false;

      async function start(): Promise<void> {
        const bytes = Buffer.from('{}');
        const call = idempotency.begin({
          clientId: 'c',
          key: 'k',
          index: 0,
          operation: 'execute',
          bytes,
        });
        const known = (await call.find()) ?? (await call.claim({ runsForMs: 60_000, isReadOnly: false }));
        if (known === null) {
          expect(runs, 'runs before this one').toBe(0);
          expect(open, 'attempts under way').toEqual([]);
          expect(isEnded, 'answered before').toBe(false);
          open.push(call);
        } else if (known.kind === 'answered') {
          expect(`${known.answer.body}`).toBe(given);
        } else {
          expect(['running', 'outcome_unknown']).toContain(known.kind);
          expect(isEnded, 'answered before').toBe(false);
        }
      }

      async function end(index: number, { hasRun, outcome }: (typeof ENDS)[number]): Promise<void> {
        const [call] = open.splice(index % Math.max(open.length, 1), 1);
        if (call === undefined) return;
        if (hasRun) runs++;
        if (outcome === null) return;
        if (outcome === 'answered') {
          isEnded = true;
          given = hasRun ? `{"result":${runs}}` : '{"error":{}}';
          call.record(new CollectingWriter()).sendWhole(200, {}, Buffer.from(given));
        }
        await call.finish(outcome);
      }

      for (const step of steps) {
        if (step.kind === 'start') await start();
        if (step.kind === 'end') await end(step.index, step.end);
        if (step.kind === 'clock') now += step.ms;
      }
      await start();
      await idempotency.close();
      expect(runs).toBeLessThanOrEqual(1);
    }),
    { numRuns: countCases(300) },
  );
});

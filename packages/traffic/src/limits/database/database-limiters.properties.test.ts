/**
 * Invariants after any history of calls, batches and shared reads, with callers that leave, time-outs, answers and
 * failures. Abort signals are used as in production: one for all calls of a batch, and one for a shared read, which is
 * aborted when its last reader leaves.
 */
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../../../server/test/close-after-test.ts';
import { countCases } from '../../../../server/test/random-cases.ts';
import { Flight, type StreamedResult } from '../../sharing/flight.ts';
import { Breaker } from './breaker.ts';
import { createTestLimiters, type TestLimiters } from './database-limiters.fixture.ts';
import type { Permit, PermitRefusal, PermitRequest, PermitResult } from './database-limiters.ts';
import type { InstanceBound } from './permit.ts';

const INITIAL = 3;
const MAX = 6;
const QUEUE_MAX = 5;
const DATABASES = ['one', 'two'];
/** Milliseconds after which the breaker may send another probe even if one is still running. */
const PROBE_MS = 5000;

/** Bounds of instances, for both databases. */
const BOUNDS: InstanceBound[] = [
  { instance: 'i', max: 1 },
  { instance: 'j', max: 2 },
  { instance: 'k', max: 9 },
];

const RESULTS: PermitResult[] = [
  'answered',
  'timed_out',
  'unreachable',
  'overloaded',
  'caller_left',
  'abandoned',
];

const CALL = {
  client: fc.constantFrom('a', 'b', 'c'),
  database: fc.constantFrom(...DATABASES),
  bound: fc.constantFrom(null, ...BOUNDS),
  isBackground: fc.constantFrom(false, false, true),
};
const PATIENCE_MS = fc.constantFrom(500, 2000, 5000, 60_000);

const STEPS = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('batch' as const),
        ...CALL,
        patienceMs: PATIENCE_MS,
        size: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('share' as const),
        ...CALL,
        readers: fc.array(PATIENCE_MS, { minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('release' as const),
        pick: fc.nat(),
        result: fc.oneof(fc.constant<PermitResult>('answered'), fc.constantFrom(...RESULTS)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('caller leaves' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass time' as const), ms: fc.nat(3000) }) },
  ),
  { maxLength: 200, size: 'max' },
);

type Step = typeof STEPS extends fc.Arbitrary<(infer One)[]> ? One : never;

/**
 * In these steps, time-outs halve the limit from 3 to 1 and open the breaker. Client a, which holds the only permit,
 * then sends the probe.
 */
const CALL_OF_A = { client: 'a', database: 'one', bound: null, isBackground: false } as const;
const PROBE_BEYOND_SHARE: Step[] = [
  { kind: 'batch', ...CALL_OF_A, patienceMs: 500, size: 3 },
  { kind: 'batch', ...CALL_OF_A, client: 'b', patienceMs: 500, size: 1 },
  { kind: 'pass time', ms: 500 },
  { kind: 'batch', ...CALL_OF_A, patienceMs: 5000, size: 2 },
  { kind: 'release', pick: 0, result: 'timed_out' },
  { kind: 'pass time', ms: 1000 },
  { kind: 'batch', ...CALL_OF_A, patienceMs: 500, size: 1 },
];

/** A request of a client. When it ends, its calls are aborted. */
interface Request {
  ending: AbortController;
  dueMs: number;
}

interface TestCall extends Required<Omit<PermitRequest, 'deadlineMs'>> {
  outcomes: (Permit | PermitRefusal)[];
  /** Time at which the call began as a probe. Null if it is not a probe, or if the breaker has closed since. */
  probeMs: number | null;
  wasProbe: boolean;
  isOver: boolean;
  /** Tells the readers of a shared call that it is over. */
  onOver: () => void;
}

class History {
  readonly requests: Request[] = [];
  readonly calls: TestCall[] = [];
  /** Number of readers of shared calls that have no reply yet. */
  unanswered = 0;
  readonly #limiters: TestLimiters;
  readonly #countProbes: () => number;

  /** `countProbes` returns the number of probes that the breakers have sent. */
  constructor(limiters: TestLimiters, countProbes: () => number) {
    this.#limiters = limiters;
    this.#countProbes = countProbes;
  }

  get running(): TestCall[] {
    return this.calls.filter(({ outcomes: [outcome], isOver }) => !isOver && outcome && 'release' in outcome);
  }

  get waiting(): TestCall[] {
    return this.calls.filter(({ outcomes }) => outcomes.length === 0);
  }

  begin(patienceMs: number): Request {
    const request = { ending: new AbortController(), dueMs: this.#limiters.clock.nowMs + patienceMs };
    this.requests.push(request);
    return request;
  }

  acquire(request: PermitRequest, onOver = () => {}): void {
    const { client, database, bound, signal, isBackground = false } = request;
    const call: TestCall = {
      client,
      database,
      bound,
      signal,
      isBackground,
      outcomes: [],
      probeMs: null,
      wasProbe: false,
      isOver: false,
      onOver,
    };
    const before = this.#limiters.databaseLimiters.states().find((state) => state.database === database);
    const running = this.running.filter((one) => one.database === database);
    const waiting = this.waiting.filter((one) => one.database === database);
    const probes = this.#countProbes();
    this.calls.push(call);
    const outcome = this.#limiters.acquire(request);
    if (this.#countProbes() > probes) {
      // A probe may exceed the concurrency limit and its client's share.
      const { nowMs } = this.#limiters.clock;
      call.probeMs = nowMs;
      call.wasProbe = true;
      expect(before?.breaker).toBe('half_open');
      expect(outcome).toHaveProperty('release');
      expect(running.filter(({ probeMs }) => probeMs !== null && nowMs - probeMs < PROBE_MS)).toEqual([]);
    } else if ('release' in outcome && before !== undefined && isBackground) {
      // A background call may begin only while no interactive call runs or waits, and no call without a bound waits.
      expect(waiting.filter(({ bound: held }) => held === null)).toEqual([]);
      expect([...waiting, ...running].filter((one) => !one.isBackground)).toEqual([]);
      expect(running.length).toBeLessThan(before.limit);
    } else if ('release' in outcome && before !== undefined) {
      const interactive = [...running, ...waiting].filter((one) => !one.isBackground);
      const clients = new Set(interactive.map((one) => one.client)).add(client).size;
      const held = running.filter((one) => one.client === client && !one.isBackground).length;
      expect(held).toBeLessThan(Math.ceil(before.limit / clients));
    }
    if (outcome instanceof Promise) void outcome.then((settled) => this.#take(call, settled));
    else this.#take(call, outcome);
  }

  share(
    call: Pick<PermitRequest, 'client' | 'database' | 'bound' | 'isBackground'>,
    patiences: number[],
  ): void {
    const ending = new AbortController();
    const reply = Promise.withResolvers<string>();
    const readers = patiences.map((patienceMs) => this.begin(patienceMs));
    const flight = new Flight<StreamedResult, string, { signal: AbortSignal; dueMs: number }>(
      {
        reply: reply.promise,
        accepts: () => true,
        extend: ({ dueMs }) => {
          dueAtMs = Math.max(dueAtMs, dueMs);
        },
        denyLeaver: () => 'left',
        abort: () => ending.abort(),
      },
      {
        isResult: (one): one is StreamedResult => typeof one !== 'string',
        limits: {} as never,
      },
      () => {},
    );
    let dueAtMs = 0;
    for (const {
      ending: { signal },
      dueMs,
    } of readers) {
      this.unanswered++;
      void flight.join({ signal, dueMs }).then(() => this.unanswered--);
    }
    const { client, database, bound, isBackground } = call;
    const request = {
      client,
      database,
      bound,
      isBackground: isBackground ?? false,
      signal: ending.signal,
      get deadlineMs() {
        return dueAtMs;
      },
    };
    this.acquire(request, () => reply.resolve('over'));
  }

  release(call: TestCall, result: PermitResult): void {
    const [permit] = call.outcomes;
    if (call.isOver || permit === undefined || !('release' in permit)) return;
    call.isOver = true;
    permit.release(result);
    call.onOver();
  }

  /** Called when the breaker of the database has closed: its probes no longer delay the next one. */
  forgetProbes(database: string): void {
    for (const call of this.calls) if (call.database === database) call.probeMs = null;
  }

  /** Aborts the requests, and releases the permits of their running calls. */
  end(requests: Request[], result: PermitResult): void {
    for (const { ending } of requests) ending.abort();
    for (const call of this.running) if (call.signal.aborted) this.release(call, result);
  }

  #take(call: TestCall, outcome: Permit | PermitRefusal): void {
    call.outcomes.push(outcome);
    if (!('release' in outcome)) call.onOver();
    else if (call.signal.aborted) this.release(call, 'abandoned');
  }
}

test('every call has one outcome, limits hold, and no permits or listeners remain', async () => {
  const beginProbe = vi.spyOn(Breaker.prototype, 'beginProbe');
  closeAfterTest({ close: () => beginProbe.mockRestore() });
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const limiters = createTestLimiters({
        concurrency: { initial: INITIAL, min: 1, max: MAX },
        queueMax: QUEUE_MAX,
        databasesMax: 2,
      });
      const { databaseLimiters, clock } = limiters;
      const history = new History(limiters, () => beginProbe.mock.calls.length);
      /** Waits for pending outcomes, then compares the counts of the limiters with the expected ones. */
      const check = async () => {
        await new Promise(setImmediate);
        for (const database of DATABASES) expectConsistent(database, limiters, history);
        for (const { database, breaker } of databaseLimiters.states())
          if (breaker === 'closed') history.forgetProbes(database);
      };
      for (const step of steps) {
        switch (step.kind) {
          case 'batch': {
            const { ending, dueMs } = history.begin(step.patienceMs);
            const { client, database, bound, isBackground } = step;
            const call = { client, database, bound, isBackground, signal: ending.signal, deadlineMs: dueMs };
            for (let index = 0; index < step.size; index++) history.acquire(call);
            break;
          }
          case 'share':
            history.share(step, step.readers);
            break;
          case 'release': {
            const { running } = history;
            const call = running[step.pick % running.length];
            if (call !== undefined) history.release(call, step.result);
            break;
          }
          case 'caller leaves': {
            const request = history.requests[step.pick % history.requests.length];
            if (request !== undefined) history.end([request], 'caller_left');
            break;
          }
          case 'pass time':
            clock.nowMs += step.ms;
            history.end(
              history.requests.filter(({ dueMs }) => dueMs <= clock.nowMs),
              'timed_out',
            );
        }
        await check();
      }
      for (let { running } = history; running.length > 0; { running } = history) {
        for (const call of running) history.release(call, 'answered');
        await check();
      }
      for (const { outcomes } of history.calls) expect(outcomes).toHaveLength(1);
      for (const state of databaseLimiters.states())
        expect(state).toMatchObject({
          running: 0,
          waiting: 0,
          backgroundRunning: 0,
          backgroundWaiting: 0,
        });
      expect(history.unanswered).toBe(0);
      const signals = [...history.calls, ...history.requests.map(({ ending }) => ending)].map((one) =>
        'signal' in one ? one.signal : null,
      );
      for (const signal of signals) expect(getEventListeners(signal as AbortSignal, 'abort')).toEqual([]);
    }),
    { examples: [[PROBE_BEYOND_SHARE]], numRuns: countCases(100) },
  );
});

function expectConsistent(database: string, { databaseLimiters }: TestLimiters, history: History): void {
  const state = databaseLimiters.states().find((one) => one.database === database);
  const running = history.running.filter((one) => one.database === database);
  const waiting = history.waiting.filter((one) => one.database === database);
  const countOf = ({ instance }: InstanceBound) =>
    running.filter(({ bound }) => bound?.instance === instance).length;
  const background = running.filter(({ isBackground }) => isBackground);
  const [waitingBackground, waitingInteractive] = [
    waiting.filter(({ isBackground }) => isBackground),
    waiting.filter(({ isBackground }) => !isBackground),
  ];
  expect(state?.running ?? 0).toBe(running.length);
  expect(state?.waiting ?? 0).toBe(waitingInteractive.length);
  expect(state?.backgroundRunning ?? 0).toBe(background.length);
  expect(state?.backgroundWaiting ?? 0).toBe(waitingBackground.length);
  expect(running.length).toBeLessThanOrEqual(MAX);
  expect(waitingInteractive.length).toBeLessThanOrEqual(QUEUE_MAX);
  expect(waitingBackground.length).toBeLessThanOrEqual(QUEUE_MAX);
  // At most an eighth of the limit, but at least one.
  expect(background.filter(({ wasProbe }) => !wasProbe).length).toBeLessThanOrEqual(1);
  for (const bound of BOUNDS) expect(countOf(bound)).toBeLessThanOrEqual(bound.max);
  // A waiting call waits for the concurrency limit, for its client's share, or for the bound of its instance.
  if (state !== undefined && running.length < state.limit) {
    for (const call of waitingInteractive)
      if (!isAtShare(call))
        expect(call.bound && countOf(call.bound)).toBe(call.bound?.max ?? 'a reason to wait');
    // A background call also waits for other background calls and for interactive ones.
    if (running.length === 0 && waitingInteractive.length === 0)
      for (const { bound } of waitingBackground)
        expect(bound && countOf(bound)).toBe(bound?.max ?? 'a reason to wait');
  }

  /** Whether the client holds its whole share, counting at least one other active client. */
  function isAtShare({ client }: TestCall): boolean {
    const interactive = [...running, ...waiting].filter(({ isBackground }) => !isBackground);
    const clients = new Set(interactive.map((one) => one.client)).size;
    const held = interactive.filter((one) => one.client === client && running.includes(one)).length;
    return held >= Math.ceil((state?.limit ?? 0) / Math.max(2, clients));
  }
}

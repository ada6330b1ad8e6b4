import { setImmediate as turn } from 'node:timers/promises';
import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readText, ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { ENDLESS_MS } from '../../../server/test/time.ts';
import { ByteBudget, weighPiece } from './byte-budget.ts';
import { collectGarbage } from './collect-garbage.fixture.ts';
import { FanOut, type FanOutLimits } from './fan-out.ts';

afterEach(() => {
  vi.useRealTimers();
});

const BROKEN = new ByteStreamError('broken_off', 'the upstream died');
const signal = () => new AbortController().signal;

function setUp(source: ByteStream, changes: Partial<FanOutLimits> = {}) {
  const budget = changes.budget ?? new ByteBudget(1e9);
  const limits = {
    startBytesMax: 100_000,
    lagBytesMax: 400_000,
    patienceMs: ENDLESS_MS,
    nowMs: Date.now,
    ...changes,
    budget,
  };
  return { budget, fanOut: new FanOut(source, limits) };
}

describe('a body with several readers', () => {
  test('passes all its bytes to each, and is read once', async () => {
    const source = new ScriptedStream('one ', 'two ');
    const { fanOut, budget } = setUp(source);
    const first = fanOut.join(signal());
    expect(await first.next()).toEqual(Buffer.from('one '));
    const second = fanOut.join(signal());
    expect(await second.next()).toEqual(Buffer.from('one '));
    expect(await second.next()).toEqual(Buffer.from('two '));
    const rests = [readText(first), readText(second), readText(fanOut.join(signal()))];
    source.give(Buffer.from('three'));
    source.give(null);
    expect(await Promise.all(rests)).toEqual(['two three', 'three', 'one two three']);
    expect(source.readCount).toBe(4);
    expect(budget.heldBytes).toBe(0);
    expect(fanOut.isJoinable).toBe(false);
  });

  test('is not read before a reader asks, nor ahead of the fastest reader', async () => {
    const source = new ScriptedStream('one', 'two', null);
    const { fanOut } = setUp(source);
    const reader = fanOut.join(signal());
    expect(source.readCount).toBe(0);
    await reader.next();
    expect(source.readCount).toBe(1);
  });

  test('breaks off for all readers, also for those behind', async () => {
    const source = new ScriptedStream('one', 'two');
    const { fanOut, budget } = setUp(source);
    const [fast, slow] = [fanOut.join(signal()), fanOut.join(signal())];
    await slow.next();
    await fast.next();
    await fast.next();
    const last = fast.next();
    source.give(BROKEN);
    await expect(last).rejects.toBe(BROKEN);
    expect(() => slow.next()).toThrow(BROKEN);
    expect(budget.heldBytes).toBe(0);
    expect(fanOut.isJoinable).toBe(false);
  });

  test('continues when one reader leaves, and is cancelled with the last', async () => {
    const source = new ScriptedStream('one');
    const { fanOut, budget } = setUp(source);
    const leaving = new AbortController();
    const [left, cancelled, stays] = [
      fanOut.join(leaving.signal),
      fanOut.join(signal()),
      fanOut.join(signal()),
    ];
    const pieces = [left, cancelled, stays].map((reader) => reader.next());
    expect(await Promise.all(pieces)).toHaveLength(3);
    const unfinished = [left.next(), cancelled.next()];
    leaving.abort();
    cancelled.cancel();
    for (const read of unfinished) await expect(read).rejects.toThrow(ByteStreamError);
    expect(() => left.next()).toThrow(ByteStreamError);
    expect(source.isCancelled).toBe(false);
    const next = stays.next();
    source.give(Buffer.from('two'));
    expect(await next).toEqual(Buffer.from('two'));
    stays.cancel();
    expect(source.isCancelled).toBe(true);
    expect(budget.heldBytes).toBe(0);
    expect(fanOut.isJoinable).toBe(false);
  });

  test('is cancelled at once if its only reader left before it joined', () => {
    const source = new ScriptedStream();
    setUp(source).fanOut.join(AbortSignal.abort());
    expect(source.isCancelled).toBe(true);
  });

  test('cannot be joined once more bytes arrived than are kept of the start', async () => {
    const { fanOut, budget } = setUp(new ScriptedStream(Buffer.alloc(600), Buffer.alloc(600)), {
      startBytesMax: 1000,
    });
    const reader = fanOut.join(signal());
    await reader.next();
    expect(fanOut.isJoinable).toBe(true);
    await reader.next();
    expect(fanOut.isJoinable).toBe(false);
    expect(() => fanOut.join(signal())).toThrow();
    expect(budget.heldBytes).toBe(0);
  });
});

describe('a reader that is slower than the others', () => {
  test('makes them wait once it is too far behind, but no longer than the patience', async () => {
    vi.useFakeTimers();
    const countTimers = countOwnTimers();
    const source = new ScriptedStream();
    const { fanOut, budget } = setUp(source, { startBytesMax: 0, lagBytesMax: 2000, patienceMs: 1000 });
    const [fast, slow] = [fanOut.join(signal()), fanOut.join(signal())];
    for (let piece = 0; piece < 10; piece++) source.give(Buffer.alloc(1000));
    source.give(null);

    await fast.next();
    await fast.next();
    const third = fast.next();
    expect(source.readCount).toBe(2);
    await vi.advanceTimersByTimeAsync(600);
    await slow.next();
    await third;
    expect(source.readCount).toBe(3);

    // 600 ms of `patienceMs` are used up. All later waits share the rest.
    const fourth = fast.next();
    await vi.advanceTimersByTimeAsync(399);
    expect(source.readCount).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    await fourth;
    expect(() => slow.next()).toThrow('fell too far behind');
    expect((await readText(fast)).length).toBe(6000);
    expect(budget.heldBytes).toBe(0);
    expect(countTimers()).toBe(0);
  });

  test('is not broken off if no reader waits for it any more', async () => {
    vi.useFakeTimers();
    const source = new ScriptedStream(Buffer.alloc(1000), Buffer.alloc(1000), null);
    const { fanOut } = setUp(source, { startBytesMax: 0, lagBytesMax: 1000, patienceMs: 1000 });
    const [fast, slow] = [fanOut.join(signal()), fanOut.join(signal())];
    await fast.next();
    const waits = expect(fast.next()).rejects.toThrow(ByteStreamError);
    fast.cancel();
    await waits;
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await readText(slow)).length).toBe(2000);
  });

  test('may take any time within the bound and after the end', async () => {
    vi.useFakeTimers();
    const { fanOut } = setUp(new ScriptedStream('one ', 'two ', 'three', null), { startBytesMax: 0 });
    const [fast, slow] = [fanOut.join(signal()), fanOut.join(signal())];
    expect(await readText(fast)).toBe('one two three');
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await readText(slow)).toBe('one two three');
  });
});

test('a piece that is a small part of a large buffer does not hold all of it', async () => {
  const source = new ScriptedStream();
  const { fanOut } = setUp(source);
  const reader = fanOut.join(signal());
  source.give(Buffer.alloc(65_536, 'x').subarray(100, 101));
  const small = await reader.next();
  expect([small?.length, small?.buffer.byteLength]).toEqual([1, 1]);
  const large = new Uint8Array(65_536).subarray(100);
  source.give(large);
  expect(await reader.next()).toBe(large);
});

test('a removed reader keeps no later pieces alive', async () => {
  const source = new ScriptedStream('one');
  const { fanOut } = setUp(source, { startBytesMax: 0 });
  const [left, stays] = [fanOut.join(signal()), fanOut.join(signal())];
  left.cancel();
  source.give(Buffer.from('two'));
  let later: Uint8Array | null = new Uint8Array(1000);
  const remains = new WeakRef(later);
  source.give(later);
  later = null;
  source.give(Buffer.from('three'));
  for (let piece = 0; piece < 4; piece++) await stays.next();
  await turn();
  collectGarbage('major');
  expect(remains.deref()).toBeUndefined();
  expect(() => left.next()).toThrow(ByteStreamError);
});

test('a minor collection frees bytes that all readers have taken, even if the first pieces are old', async () => {
  const pieceBytes = 100_000;
  const source = new ScriptedStream();
  const { fanOut } = setUp(source, { startBytesMax: pieceBytes });
  const reader = fanOut.join(signal());
  const readOne = async () => {
    source.give(new Uint8Array(pieceBytes));
    await reader.next();
    await turn();
  };
  await readOne();
  // The first piece has survived two minor collections: it is old, and stays until a major collection.
  for (let round = 0; round < 3; round++) collectGarbage('minor');
  const before = process.memoryUsage().arrayBuffers;
  for (let piece = 0; piece < 40; piece++) {
    await readOne();
    collectGarbage('minor');
  }
  const added = () => process.memoryUsage().arrayBuffers - before;
  await expect.poll(added).toBeLessThan(10 * pieceBytes);
});

test('without budget no start is kept and readers read in step; a single reader is not slowed', async () => {
  const budget = new ByteBudget(1);
  budget.hold(1);
  const lone = setUp(new ScriptedStream('one ', 'two ', 'three', null), { budget });
  const reader = lone.fanOut.join(signal());
  expect(await reader.next()).toEqual(Buffer.from('one '));
  expect(lone.fanOut.isJoinable).toBe(false);
  expect(await readText(reader)).toBe('two three');
  expect(budget.heldBytes).toBe(1);

  const source = new ScriptedStream('one ', 'two ', 'three', null);
  const { fanOut } = setUp(source, { budget });
  const [fast, slow] = [fanOut.join(signal()), fanOut.join(signal())];
  await fast.next();
  const second = fast.next();
  expect(source.readCount).toBe(1);
  await slow.next();
  await second;
  expect(await Promise.all([readText(fast), readText(slow)])).toEqual(['three', 'two three']);
});

describe('for any sequence of actions of readers and source', () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.constant({ does: 'join' as const }) },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('read' as const), who: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('leave' as const), who: fc.nat(9) }) },
    { weight: 6, arbitrary: fc.constant({ does: 'give' as const }) },
  );
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4000 })), {
    maxLength: 25,
  });
  const bounds = fc.record({
    startBytesMax: fc.nat(6000),
    lagBytesMax: fc.integer({ min: 1, max: 8000 }),
    heldBytesMax: fc.integer({ min: 0, max: 10_000 }),
  });

  test('no byte is lost, doubled or out of order, no part looks whole, and the held bytes are bounded', async () => {
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.boolean(),
        bounds,
        fc.array(step, { maxLength: 120 }),
        async (sizes, breaks, { heldBytesMax, ...limits }, steps) => {
          // Piece n is filled with n, so that a wrong order is detected.
          const pieces = sizes.map((size, index) => new Uint8Array(size).fill(index));
          const whole = Buffer.concat(pieces);
          const script = [...pieces, breaks ? BROKEN : null];
          const heaviest = Math.max(0, ...pieces.map(weighPiece));
          const source = new ScriptedStream();
          const budget = new ByteBudget(heldBytesMax);
          const { fanOut } = setUp(source, { ...limits, budget, patienceMs: 2 ** 31 - 1 });
          const readers: Follower[] = [];
          const check = () => {
            const bound = Math.max(limits.lagBytesMax, limits.startBytesMax) + heaviest;
            expect(budget.heldBytes).toBeLessThanOrEqual(Math.min(bound, heldBytesMax + heaviest));
            for (const { got } of readers) expect(whole.subarray(0, got.length).equals(got)).toBe(true);
          };
          const giveNext = () => {
            const next = script.shift();
            if (next !== undefined) source.give(next);
          };

          for (const action of steps) {
            const reader =
              readers[(action.does === 'read' || action.does === 'leave' ? action.who : 0) % readers.length];
            if (action.does === 'join' && fanOut.isJoinable && readers.length < 10)
              readers.push(new Follower(fanOut.join(signal())));
            else if (action.does === 'read') reader?.readOn();
            else if (action.does === 'leave') reader?.leave();
            else if (action.does === 'give') giveNext();
            await turn();
            check();
          }

          while (script.length > 0) giveNext();
          for (let round = 0; readers.some(({ state }) => state === 'reading'); round++) {
            expect(round).toBeLessThan(1000);
            for (const reader of readers) reader.readOn();
            await turn();
            check();
          }
          for (const { state, got } of readers) {
            if (state === 'whole') expect(!breaks && got.equals(whole)).toBe(true);
            else expect(state).toMatch(breaks ? /left|broken/ : 'left');
          }
          const all = readers.map(({ state }) => state);
          if (all.length > 0) expect(budget.heldBytes).toBe(0);
          if (all.length > 0 && all.every((state) => state === 'left')) expect(source.isCancelled).toBe(true);
          if (all.some((state) => state !== 'left')) expect(source.isCancelled).toBe(false);
        },
      ),
      { numRuns: countCases(300) },
    );
  });
});

/** A reader that takes a piece on request and records its bytes. */
class Follower {
  readonly #body: ByteStream;
  #isWaiting = false;
  got = Buffer.alloc(0);
  state: 'reading' | 'whole' | 'broken' | 'left' = 'reading';

  constructor(body: ByteStream) {
    this.#body = body;
  }

  readOn(): void {
    if (this.#isWaiting || this.state !== 'reading') return;
    this.#isWaiting = true;
    void this.#readOne();
  }

  leave(): void {
    if (this.state !== 'reading') return;
    this.state = 'left';
    this.#body.cancel();
  }

  async #readOne(): Promise<void> {
    try {
      const piece = await this.#body.next();
      if (piece === null) this.state = 'whole';
      else this.got = Buffer.concat([this.got, piece]);
    } catch (error) {
      expect(error).toBeInstanceOf(ByteStreamError);
      if (this.state === 'reading') this.state = 'broken';
    }
    this.#isWaiting = false;
  }
}

import { setImmediate as turn } from 'node:timers/promises';
import { type ByteStream, ByteStreamError } from '@erp-proxy/async/streams';
import { beforeEach, describe, expect, test } from 'vitest';
import { readText, ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { type AnswerStore, type Found, MemoryAnswers } from './answer-store.ts';
import { collectGarbage } from './collect-garbage.fixture.ts';
import type { SharedCall } from './flight.ts';
import {
  type NamedRead,
  nameRead,
  readCacheControl,
  type SharedAnswer,
  SharedReads,
  type SharedReadsBounds,
} from './shared-reads.ts';
import { WriteLog } from './write-log.ts';

interface Result {
  pieces: Uint8Array[];
  rest: ByteStream | null;
  lastByte: number | null;
  tail: Uint8Array;
}
interface Denied {
  denied: string;
}
type Reply = Result | Denied;

class Caller {
  readonly #leaving = new AbortController();
  readonly name: string;
  readonly signal = this.#leaving.signal;

  constructor(name: string) {
    this.name = name;
  }

  leave(): void {
    this.#leaving.abort();
  }
}

/** A call whose reply the test decides. */
class Call implements SharedCall<Reply, Caller> {
  readonly #reply = Promise.withResolvers<Reply>();
  readonly reply = this.#reply.promise;
  readonly members: string[] = [];
  abortedBy: string | null = null;
  /** Name of the member that may not join. */
  excluded: string | null = null;

  accepts({ name }: Caller): boolean {
    return name !== this.excluded;
  }

  extend({ name }: Caller): void {
    this.members.push(name);
  }

  denyLeaver({ name }: Caller): Denied {
    return { denied: `${name} gave up` };
  }

  abort({ name }: Caller): void {
    this.abortedBy = name;
    this.answer({ denied: `aborted by ${name}` });
  }

  answer(reply: Reply): void {
    this.#reply.resolve(reply);
  }

  fail(error: Error): void {
    this.#reply.reject(error);
  }
}

const BRACE = 0x7d;
const NOTHING = Buffer.alloc(0);
const PARTNER = { name: 'partners', database: 'prod', model: 'res.partner' };

let now: number;
let calls: Call[];
let reads: SharedReads<Result, Denied, Caller>;
beforeEach(() => {
  now = 1000;
  calls = [];
  reads = open();
});

interface OpenOptions extends Partial<SharedReadsBounds> {
  cacheBytesMax?: number;
  /** The store to use in place of the memory. */
  store?: AnswerStore;
}

function open({ cacheBytesMax = 1_000_000, store, ...bounds }: OpenOptions = {}) {
  const nowMs = () => now;
  const writes = new WriteLog();
  const openStore = () => store ?? new MemoryAnswers({ bytesMax: cacheBytesMax, writes, nowMs });
  return new SharedReads<Result, Denied, Caller>({
    nowMs,
    isResult: (reply) => 'rest' in reply,
    makeResult,
    writes,
    answers: cacheBytesMax === 0 ? null : openStore(),
    bounds,
  });
}

function begin(): Call {
  const call = new Call();
  calls.push(call);
  return call;
}

/** Sends a read as share-read.ts does. The store of these tests answers at once, so calls also begin at once. */
async function ask(
  scope = PARTNER,
  maxAgeMs: number | null = null,
  caller = new Caller('caller'),
): Promise<SharedAnswer<Reply>> {
  const found = reads.find(scope, maxAgeMs);
  if (found instanceof Promise) throw new Error('the store did not answer at once');
  return 'reply' in found ? found : (reads.join(found, caller) ?? reads.open(found, begin(), caller));
}

function whole(text: string): Result {
  return makeResult(Buffer.from(text));
}

function makeResult(bytes: Uint8Array): Result {
  return { pieces: [bytes], rest: null, lastByte: null, tail: NOTHING };
}

function streamed(start: string, rest: ByteStream, lastByte: number | null = BRACE): Result {
  return { pieces: [Buffer.from(start)], rest, lastByte, tail: NOTHING };
}

async function readReply({ reply }: SharedAnswer<Reply>): Promise<string> {
  if ('denied' in reply) return reply.denied;
  const start = Buffer.concat(reply.pieces).toString();
  return reply.rest === null ? start : start + (await readText(reply.rest));
}

describe('reads in flight', () => {
  test('that are equal become one call, whose answer all callers get', async () => {
    const answers = [ask(), ask(), ask()];
    expect(calls).toHaveLength(1);
    const rest = new ScriptedStream('two', '}');
    calls[0]?.answer(streamed('one ', rest));
    const [first, second, third] = await Promise.all(answers);
    const late = await ask();
    const texts = [first, second, third, late].map((answer) => readReply(answer as SharedAnswer<Reply>));
    rest.give(null);
    expect(await Promise.all(texts)).toEqual(Array(4).fill('one two}'));
    expect([first, second, third, late].map((answer) => answer?.source)).toEqual([
      'own',
      'joined',
      'joined',
      'joined',
    ]);
    expect(calls).toHaveLength(1);
    expect(reads.heldBytes).toBe(0);
  });

  test('share a denial, a whole result and an internal error', async () => {
    for (const reply of [{ denied: 'no such field' }, whole('all}')]) {
      const answers = [ask(), ask()];
      calls.at(-1)?.answer(reply);
      for (const answer of await Promise.all(answers)) expect(answer.reply).toBe(reply);
    }
    const answers = [ask(), ask()];
    calls.at(-1)?.fail(new Error('a bug'));
    for (const answer of answers) await expect(answer).rejects.toThrow('a bug');
    expect(calls).toHaveLength(3);
  });

  test('with another name have a call of their own, and so has one that comes after the answer', async () => {
    const [one, other] = [ask(), ask({ ...PARTNER, name: 'of another key' })];
    expect(calls).toHaveLength(2);
    calls[0]?.answer(whole('one'));
    calls[1]?.answer(whole('other'));
    expect([await readReply(await one), await readReply(await other)]).toEqual(['one', 'other']);
    void ask();
    expect(calls).toHaveLength(3);
  });

  test('are not joined by a member that the call does not accept', async () => {
    void ask();
    if (calls[0] !== undefined) calls[0].excluded = 'excluded';
    void ask(PARTNER, null, new Caller('excluded'));
    expect(calls).toHaveLength(2);
  });

  test('are joined by a read that waited for the store of kept answers meanwhile', async () => {
    const asked = Promise.withResolvers<Found>();
    reads = open({ store: { find: () => asked.promise, keep() {}, drop() {} } });
    const found = [reads.find(PARTNER, 60_000), reads.find(PARTNER, 60_000)];
    asked.resolve({ kept: null, mark: null });
    for (const read of await Promise.all(found)) {
      if ('reply' in read) throw new Error('nothing is kept');
      const caller = new Caller('caller');
      void (reads.join(read, caller) ?? reads.open(read, begin(), caller));
    }
    expect(calls.map(({ members }) => members)).toEqual([['caller', 'caller']]);
  });

  test('break off for all callers if the server breaks off', async () => {
    const answers = [ask(), ask()];
    const rest = new ScriptedStream('two');
    calls[0]?.answer(streamed('one ', rest));
    const texts = (await Promise.all(answers)).map(readReply);
    rest.give(new ByteStreamError('broken_off', 'the upstream died'));
    for (const text of texts) await expect(text).rejects.toThrow('the upstream died');
    void ask();
    expect(calls).toHaveLength(2);
  });

  test('are not joined once they were sent too long ago', async () => {
    void ask();
    now += 2000;
    void ask();
    expect(calls).toHaveLength(1);
    now += 1;
    void ask();
    expect(calls).toHaveLength(2);
    now += 2000;
    calls[0]?.answer(whole('old'));
    await turn();
    void ask();
    expect(calls).toHaveLength(2);
  });

  test('are not joined by a caller that accepts no answer of their age', async () => {
    void ask();
    now += 1500;
    void ask(PARTNER, 1500);
    expect(calls).toHaveLength(1);
    void ask(PARTNER, 1499);
    expect(calls).toHaveLength(2);
  });

  test('are not joined after a write to their database: the writer must see its own write', async () => {
    void ask();
    const writing = Promise.withResolvers<string>();
    const written = write(reads, 'prod', 'sale.order.line', () => writing.promise);
    void ask();
    expect(calls).toHaveLength(2);
    writing.resolve('done');
    expect(await written).toBe('done');
    void ask();
    expect(calls).toHaveLength(3);
    await expect(write(reads, 'prod', null, () => Promise.reject(new Error('failed')))).rejects.toThrow();
    void ask();
    expect(calls).toHaveLength(4);
    await write(reads, 'test', 'res.partner', async () => {});
    void ask();
    expect(calls).toHaveLength(4);
  });
});

describe('a member that leaves', () => {
  test('leaves alone; the call goes on for the members that stay', async () => {
    const [first, second] = [new Caller('first'), new Caller('second')];
    const answers = [ask(PARTNER, null, first), ask(PARTNER, null, second)];
    expect(calls[0]?.members).toEqual(['first', 'second']);
    first.leave();
    expect((await answers[0])?.reply).toEqual({ denied: 'first gave up' });
    expect(calls[0]?.abortedBy).toBeNull();
    calls[0]?.answer(whole('all'));
    expect((await answers[1])?.reply).toEqual(whole('all'));
  });

  test('as the last one aborts the call, gets its reply, and lets nobody join', async () => {
    const [first, second] = [new Caller('first'), new Caller('second')];
    const answers = [ask(PARTNER, null, first), ask(PARTNER, null, second)];
    second.leave();
    first.leave();
    expect(calls[0]?.abortedBy).toBe('first');
    void ask();
    expect(calls).toHaveLength(2);
    expect((await Promise.all(answers)).map(({ reply }) => reply)).toEqual([
      { denied: 'aborted by first' },
      { denied: 'second gave up' },
    ]);
  });

  test('can wait twice: each wait gets its reply', async () => {
    const caller = new Caller('caller');
    const answers = [ask(PARTNER, null, caller), ask(PARTNER, null, caller)];
    caller.leave();
    expect((await Promise.all(answers)).map(({ reply }) => reply)).toEqual([
      { denied: 'caller gave up' },
      { denied: 'aborted by caller' },
    ]);
  });

  test('before it joined aborts the call that was begun for it', async () => {
    const gone = new Caller('gone');
    gone.leave();
    expect((await ask(PARTNER, null, gone)).reply).toEqual({ denied: 'aborted by gone' });
  });

  test('while the answer arrives cancels it only if nobody else reads it', async () => {
    const [first, second] = [new Caller('first'), new Caller('second')];
    const answers = [ask(PARTNER, null, first), ask(PARTNER, null, second)];
    const rest = new ScriptedStream('two ');
    calls[0]?.answer(streamed('one ', rest));
    const texts = (await Promise.all(answers)).map(readReply);
    first.leave();
    await expect(texts[0]).rejects.toThrow(ByteStreamError);
    expect(rest.isCancelled).toBe(false);
    second.leave();
    await expect(texts[1]).rejects.toThrow(ByteStreamError);
    expect(rest.isCancelled).toBe(true);
    expect(reads.heldBytes).toBe(0);
  });

  test('at the moment of the answer leaves no stream open', async () => {
    const caller = new Caller('caller');
    const answer = ask(PARTNER, null, caller);
    const rest = new ScriptedStream('two');
    calls[0]?.answer(streamed('one ', rest));
    caller.leave();
    await expect(answer.then(readReply)).rejects.toThrow(ByteStreamError);
    expect(rest.isCancelled).toBe(true);
  });
});

describe('kept answers', () => {
  /** Sends a read, and ends its call with this reply. */
  async function askFor(reply: Reply, scope = PARTNER, maxAgeMs: number | null = 60_000): Promise<string> {
    const asked = ask(scope, maxAgeMs);
    calls.at(-1)?.answer(reply);
    return readReply(await asked);
  }

  test('go to callers that accept their age, with the age, and to no others', async () => {
    expect(await askFor(streamed('one ', new ScriptedStream('two', '}\n', null)))).toBe('one two}\n');
    now += 5000;
    const kept = await ask(PARTNER, 5000);
    expect(kept).toMatchObject({ source: 'kept', ageMs: 5000, reply: { rest: null } });
    expect(await readReply(kept)).toBe('one two}\n');
    expect(calls).toHaveLength(1);
    void ask(PARTNER, 4999);
    expect(calls).toHaveLength(2);
    now += 10_000;
    void ask();
    expect(calls).toHaveLength(3);
    void ask({ ...PARTNER, name: 'of another company' }, 60_000);
    expect(calls).toHaveLength(4);
  });

  test('count their age from the sending of the call, also for a caller that joined it', async () => {
    const first = ask();
    now += 1500;
    const joined = ask(PARTNER, 60_000);
    calls[0]?.answer(whole('all'));
    await Promise.all([first, joined]);
    expect(await ask(PARTNER, 60_000)).toMatchObject({ source: 'kept', ageMs: 1500 });
  });

  test('are never replaced by older ones: a call can take longer than one that was sent after it', async () => {
    const slow = ask(PARTNER, 60_000);
    now += 3000;
    await askFor(whole('new'));
    calls[0]?.answer(whole('old'));
    expect(await readReply(await slow)).toBe('old');
    expect(await readReply(await ask(PARTNER, 60_000))).toBe('new');
  });

  test('come only from callers that accept kept answers', async () => {
    await askFor(whole('all'), PARTNER, null);
    void ask(PARTNER, 60_000);
    expect(calls).toHaveLength(2);
  });

  test('are whole results only', async () => {
    await askFor({ denied: 'access denied' });
    await askFor(streamed('one ', new ScriptedStream('two', null)));
    const dying = new ScriptedStream('two');
    dying.give(new ByteStreamError('broken_off', 'the upstream died'));
    await expect(askFor(streamed('one ', dying))).rejects.toThrow('the upstream died');
    const leaving = new Caller('leaving');
    const left = ask(PARTNER, 60_000, leaving);
    calls.at(-1)?.answer(streamed('one ', new ScriptedStream('}')));
    const text = readReply(await left);
    await turn();
    leaving.leave();
    await expect(text).rejects.toThrow(ByteStreamError);
    void ask(PARTNER, 60_000);
    expect(calls).toHaveLength(5);
    expect(reads.heldBytes).toBe(0);
  });

  test('are bounded, each and together', async () => {
    reads = open({ answerBytesMax: 5000, cacheBytesMax: 20_000 });
    const long = { ...PARTNER, name: 'long' };
    await askFor(whole('x'.repeat(5001)), long);
    await askFor(streamed('', new ScriptedStream('x'.repeat(5000), '}', null)), long);
    await askFor(whole('again'), long);
    expect(calls).toHaveLength(3);
    const scopes = Array.from({ length: 10 }, (_, index) => ({ ...PARTNER, name: `read ${index}` }));
    for (const scope of scopes) await askFor(whole('x'.repeat(4000)), scope);
    for (const scope of scopes.reverse()) void ask(scope, 60_000);
    // There is room for three answers and the overhead of their entries.
    expect(calls).toHaveLength(3 + 10 + 7);
  });

  test.each(['whole', 'streamed'])('keep no reference to their call: %s', async (kind) => {
    const result = kind === 'whole' ? whole('all') : streamed('all', new ScriptedStream('}', null));
    await askFor(result);
    const remains = new WeakRef(calls.pop() as Call);
    await turn();
    collectGarbage('major');
    expect(remains.deref()).toBeUndefined();
    expect(await ask(PARTNER, 60_000)).toMatchObject({ source: 'kept' });
  });

  test('use no more memory than their bytes', async () => {
    await askFor(whole('1'));
    const { reply } = await ask(PARTNER, 60_000);
    if ('denied' in reply) throw new Error(reply.denied);
    expect(reply.pieces.map(({ buffer }) => buffer.byteLength)).toEqual([1]);
  });

  test('are not collected while too many bytes are held', async () => {
    reads = open({ heldBytesMax: 0 });
    await askFor(streamed('one ', new ScriptedStream('two}', null)));
    await askFor(whole('all'));
    expect(calls).toHaveLength(2);
    expect(reads.heldBytes).toBe(0);
  });

  test('can be turned off', async () => {
    reads = open({ cacheBytesMax: 0 });
    await askFor(whole('all'));
    await askFor(whole('all'));
    expect(calls).toHaveLength(2);
  });

  test.each([
    ['a write to their model', 'prod', 'res.partner', 2],
    ['a call that may write to any model', 'prod', null, 2],
    ['a write to another model', 'prod', 'sale.order', 1],
    ['a write to another database', 'test', 'res.partner', 1],
  ])('after %s: %s %s', async (_what, database, model, callsMade) => {
    await askFor(whole('before'));
    await write(reads, database, model, async () => {});
    void ask(PARTNER, 60_000);
    expect(calls).toHaveLength(callsMade);
  });

  test('are dropped when a write begins, not when it ends', async () => {
    await askFor(whole('before'));
    void write(reads, 'prod', 'res.partner', () => new Promise(() => {}));
    void ask(PARTNER, 60_000);
    expect(calls).toHaveLength(2);
  });

  test('never come from reads sent before or during a write', async () => {
    const writing = Promise.withResolvers<void>();
    const beforeIt = ask(PARTNER, 60_000);
    const written = write(reads, 'prod', 'res.partner', () => writing.promise);
    const duringIt = ask(PARTNER, 60_000);
    const endsDuringIt = ask({ ...PARTNER, name: 'another read' }, 60_000);
    calls[2]?.answer(whole('old'));
    await endsDuringIt;
    writing.resolve();
    await written;
    calls[0]?.answer(whole('old'));
    calls[1]?.answer(streamed('old', new ScriptedStream('}', null)));
    for (const answer of await Promise.all([beforeIt, duringIt])) await readReply(answer);
    await askFor(whole('new'));
    await askFor(whole('new'), { ...PARTNER, name: 'another read' });
    expect(calls).toHaveLength(5);
    expect(await readReply(await ask(PARTNER, 60_000))).toBe('new');
  });
});

/** Runs a possible write as a call does. */
async function write<Value>(
  reads: Pick<SharedReads<Result, Denied, Caller>, 'reportWrite'>,
  database: string,
  model: string | null,
  send: () => Promise<Value>,
): Promise<Value> {
  void reads.reportWrite(database, model);
  try {
    return await send();
  } finally {
    await reads.reportWrite(database, model);
  }
}

test.each([
  [undefined, true, null],
  ['', true, null],
  ['max-age=60', true, 60_000],
  ['Max-Age="60"', true, 60_000],
  ['max-stale, max-age = 5 ,foo=bar', true, 5000],
  ['max-age=60, max-age=5', true, 5000],
  ['max-age=0', false, null],
  ['no-cache', false, null],
  ['max-age=60, No-Cache', false, null],
  ['no-store', false, null],
  ['no-cache="x"', false, null],
  ['max-age', true, null],
  ['max-age=-1', true, null],
  ['max-age=1.5', true, null],
  ['max-age=1e3', true, null],
  ['max-age=soon', true, null],
  [`max-age=${'9'.repeat(400)}`, true, Number.POSITIVE_INFINITY],
  [',,=,"', true, null],
])('%j: may share: %s, maximum age: %j ms', (header, mayShare, maxAgeMs) => {
  expect(readCacheControl(header, true)).toEqual({ mayShare, maxAgeMs });
});

test('a key without permission for kept answers gets none, and can still ask for a call of its own', () => {
  expect(readCacheControl('max-age=60', false)).toEqual({ mayShare: true, maxAgeMs: null });
  expect(readCacheControl('no-cache', false)).toEqual({ mayShare: false, maxAgeMs: null });
});

test('such a key joins no call that can be older than the age it accepts', () => {
  expect(readCacheControl('max-age=1', false)).toEqual({ mayShare: false, maxAgeMs: null });
  expect(readCacheControl('max-age=2', false)).toEqual({ mayShare: true, maxAgeMs: null });
});

const READ = {
  credentialsId: 'of-one-user',
  instanceId: null,
  model: 'res.partner',
  method: 'read',
  params: Buffer.from('[[1]]'),
  keyword: Buffer.from('{"context":{"allowed_company_ids":[1]}}'),
};

test('equal reads have the same name', () => {
  expect(nameRead({ ...READ, params: Buffer.from('[[1]]') })).toBe(nameRead(READ));
});

test.each<Partial<NamedRead>>([
  { credentialsId: 'of-another-user' },
  { instanceId: 'prod' },
  { model: 'res.users' },
  { method: 'web_read' },
  { params: Buffer.from('[[2]]') },
  { params: Buffer.from('[[1] ]') },
  { keyword: Buffer.from('{"context":{"allowed_company_ids":[2]}}') },
  { keyword: Buffer.from('{"limit":80,"context":{"allowed_company_ids":[1]}}') },
])('a different read has a different name: %j', (change) => {
  expect(nameRead({ ...READ, ...change })).not.toBe(nameRead(READ));
});

test('the bytes of one member cannot be mistaken for those of another', () => {
  const [params, keyword] = [Buffer.from('[["{}"]]'), Buffer.from('{}')];
  const moved = { params: Buffer.from('[["{}"]]{'), keyword: Buffer.from('}') };
  expect(nameRead({ ...READ, params, keyword })).not.toBe(nameRead({ ...READ, ...moved }));
  expect(nameRead({ ...READ, model: 'a","b', method: 'c' })).not.toBe(
    nameRead({ ...READ, model: 'a', method: 'b","c' }),
  );
});

test('a read with long arguments has no name, and a name reveals nothing of its read', () => {
  expect(nameRead({ ...READ, params: Buffer.alloc(256 * 1024) })).toBeNull();
  expect(nameRead(READ)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
});

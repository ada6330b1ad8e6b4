/**
 * Step: NaN and Infinity, which Odoo prints and JSON lacks. A caller of our own forms gets null in their place. A plain
 * call is an error: a long answer that has begun breaks off, and the next one on this model is read whole before it is
 * sent, so that it can say why. It follows convertReading, so that its part of the reply comes first.
 */
import { type ByteStream, ByteStreamError, chain } from '@erp-proxy/async/streams';
import { createPauses } from '@erp-proxy/async/tasks';
import {
  BEFORE_BYTES,
  findNonNumbers,
  listNonNumbers,
  mayHaveNonNumber,
  NULL,
  replaceNonNumbers,
  VALUE_BYTES,
} from '@erp-proxy/odoo/values';
import { LRUCache } from 'lru-cache';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import { isResult, type Reply, type ResultReply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { denyBrokenOff, describeOutcome } from '../terms/upstream-denials.ts';
import { PeekedBody } from './peeked-body.ts';
import { nameLogin } from './target-names.ts';

export interface NonNumbersDeps {
  settings: { answerBytesMax: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

interface ReadingCall {
  isReadOnly: boolean;
  target: Target;
  model: string;
}

const MODELS_MAX = 1000;
const KEPT_MS = 10 * 60 * 1000;

export function handleNonNumbers({ settings, nowMs }: NonNumbersDeps): Step<ReadingCall> {
  /** Models whose long answers have had such a value lately, by login. */
  const seen = new LRUCache<string, true>({
    max: MODELS_MAX,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now: () => nowMs() + 1 },
  });
  return async function handleNonNumbers(call, context, next) {
    const { areValuesNormalized, request } = context;
    const { via } = request;
    const converts = areValuesNormalized || (via !== null && via !== 'console');
    const reply = await next(context);
    if (!isResult(reply)) return reply;
    return converts ? replace(reply, context) : await check(reply, call, context);
  };

  async function check(reply: ResultReply, call: ReadingCall, context: CallContext): Promise<Reply> {
    const { pieces, rest } = reply;
    const [found] = pieces.some(mayHaveNonNumber) ? listNonNumbers(Buffer.concat(pieces)) : [];
    if (found !== undefined) {
      rest?.cancel();
      return denyNonNumber(found.field, call);
    }
    if (rest === null) return reply;
    const key = `${nameLogin(call.target)} ${call.model}`;
    const checked = new CheckedStream(chain(pieces, rest), () => void seen.set(key, true));
    const watched = { ...reply, pieces: [], rest: checked };
    return seen.has(key) ? await readAhead(watched, checked, { call, context }) : watched;
  }

  /** Reads the answer before it is sent, as far as it is not too large. */
  async function readAhead(
    reply: ResultReply,
    rest: ByteStream,
    { call, context }: { call: ReadingCall; context: CallContext },
  ): Promise<Reply> {
    const peeked = new PeekedBody(rest);
    try {
      const isWhole = await peeked.readWhole(settings.answerBytesMax);
      return { ...reply, pieces: [peeked.bytes], rest: isWhole ? chain([], null) : peeked };
    } catch (error) {
      if (error instanceof NonNumberError) return denyNonNumber(error.field, call);
      if (!(error instanceof ByteStreamError)) throw error;
      const details = { outcome: 'unknown', isReadOnly: call.isReadOnly, detail: error.message } as const;
      return denyBrokenOff(context.time.deadline, details);
    }
  }
}

function replace(reply: ResultReply, { trace }: CallContext): ResultReply {
  const { pieces, rest } = reply;
  const note = (field: string | null) => {
    trace.nullField ??= field ?? '';
  };
  if (rest !== null)
    return { ...reply, pieces: [], rest: new ReplacedStream(chain(pieces, rest), note), lengthBytes: null };
  if (!pieces.some(mayHaveNonNumber)) return reply;
  const whole = Buffer.concat(pieces);
  const found = listNonNumbers(whole);
  for (const { field } of found) note(field);
  const replaced = replaceNonNumbers(whole, found);
  return { ...reply, pieces: [replaced], lengthBytes: replaced.length };
}

function denyNonNumber(field: string | null, { isReadOnly, model }: ReadingCall): Denial {
  const details = { outcome: 'unknown', isReadOnly, detail: 'a value that is no JSON' } as const;
  const place = field === null ? 'A value' : `The field \`${field}\``;
  return new Denial(
    'upstream_bad_response',
    `${place} in the answer is NaN or Infinity, which JSON cannot express: a record of \`${model}\`, or one that it leads to, has it. Correct the record, leave the field out, or send \`prefer: values=normalized\`, which gives null. ${describeOutcome(details, true)}`,
    field === null ? details : { ...details, path: field },
  );
}

const NOTHING = Buffer.alloc(0);
/** Values that are replaced at once. A piece full of them would keep the event loop. */
const VALUES_AT_ONCE = 2000;
/** What may go on as such a value in the next piece. */
const BEGINNING = /-?(?:N|Na|I[a-z]*)$|-$/;

/** A result that was to pass unchanged has such a value. */
class NonNumberError extends ByteStreamError {
  readonly field: string;

  constructor(field: string) {
    super('broken_off', `NaN or Infinity in the field ${field}, which JSON cannot express`);
    this.field = field;
  }
}

/** Gives `null` in place of each such value. `onFound` gets the first field that has one. */
export class ReplacedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #onFound: (field: string) => void;
  readonly #pauseAfter = createPauses(VALUES_AT_ONCE);
  /** The last bytes that have arrived, and how many of them wait for what follows. */
  #last: Uint8Array = NOTHING;
  #heldBytes = 0;
  #isEnded = false;

  constructor(source: ByteStream, onFound: (field: string) => void) {
    this.#source = source;
    this.#onFound = onFound;
  }

  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      const piece = await this.#source.next();
      this.#isEnded = piece === null;
      const given = await this.#replace(piece ?? NOTHING);
      if (given.length > 0) return given;
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async #replace(piece: Uint8Array): Promise<Uint8Array> {
    const bytes = Buffer.concat([this.#last, piece]);
    const given: Uint8Array[] = [];
    let at = this.#last.length - this.#heldBytes;
    if (mayHaveNonNumber(bytes))
      for (const { start, end, field } of findNonNumbers(bytes, at)) {
        given.push(bytes.subarray(at, start), NULL);
        this.#onFound(field ?? '');
        at = end;
        await this.#pauseAfter(1);
      }
    const ending = bytes.toString('latin1', Math.max(at, bytes.length - VALUE_BYTES));
    this.#heldBytes = this.#isEnded ? 0 : (BEGINNING.exec(ending)?.[0].length ?? 0);
    given.push(bytes.subarray(at, bytes.length - this.#heldBytes));
    this.#last = Buffer.from(bytes.subarray(-BEFORE_BYTES - this.#heldBytes));
    return given.length === 1 ? given[0]! : Buffer.concat(given);
  }
}

/** Passes the bytes as they are, and breaks off behind the first such value. `onFound` is told. */
export class CheckedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #onFound: () => void;
  /** The end of what has passed. */
  #before: Uint8Array = NOTHING;

  constructor(source: ByteStream, onFound: () => void) {
    this.#source = source;
    this.#onFound = onFound;
  }

  async next(): Promise<Uint8Array | null> {
    return this.#check(await this.#source.next());
  }

  cancel(): void {
    this.#source.cancel();
  }

  #check(piece: Uint8Array | null): Uint8Array | null {
    if (piece === null) return null;
    const field = this.#find(piece);
    if (field === null) return piece;
    this.#source.cancel();
    this.#onFound();
    throw new NonNumberError(field);
  }

  #find(piece: Uint8Array): string | null {
    const keptBytes = BEFORE_BYTES + VALUE_BYTES;
    // A name can end at the beginning of the piece, with its value behind it.
    const border = Buffer.concat([this.#before, piece.subarray(0, keptBytes)]);
    this.#before = Buffer.from(
      piece.length < keptBytes ? border.subarray(-keptBytes) : piece.subarray(-keptBytes),
    );
    return findFirst(border) ?? (piece.length > keptBytes ? findFirst(piece) : null);
  }
}

/** The field of the first one. */
function findFirst(bytes: Uint8Array): string | null {
  if (!mayHaveNonNumber(bytes)) return null;
  const [found] = findNonNumbers(bytes, 0);
  return found?.field ?? null;
}

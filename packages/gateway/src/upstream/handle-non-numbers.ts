/**
 * Step: handles NaN and Infinity, which Odoo prints and JSON lacks. In results for tools, data routes and callers that
 * prefer normalized values, null replaces them. For all other calls they are an error: a long answer that has begun
 * breaks off, and the next long answer on this model is read whole before it is sent, so that the error can name the
 * field. The step follows convertReading, so that its part of the reply comes first.
 */

import { type ByteStream, ByteStreamError, chain } from '@erp-proxy/async/streams';
import { findResultForm, listNonNumbers, mayHaveNonNumber, replaceNonNumbers } from '@erp-proxy/odoo/values';
import { LRUCache } from 'lru-cache';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Step } from '../terms/operation.ts';
import { isResult, type Reply, type ResultReply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { denyBrokenOff, describeOutcome } from '../terms/upstream-denials.ts';
import { CheckedStream, NonNumberError, type NonNumberPlaces, ReplacedStream } from './non-number-stream.ts';
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
  method: string;
}

const MODELS_MAX = 1000;
const KEPT_MS = 10 * 60 * 1000;

export function handleNonNumbers({ settings, nowMs }: NonNumbersDeps): Step<ReadingCall> {
  /** Models whose long answers have had NaN or Infinity lately, by login. */
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
    return converts ? replace(reply, call, context) : await check(reply, call, context);
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
    const checked = new CheckedStream(chain(pieces, rest), findPlaces(call), () => void seen.set(key, true));
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

function replace(reply: ResultReply, call: ReadingCall, { trace }: CallContext): ResultReply {
  const { pieces, rest } = reply;
  const record = (field: string | null) => {
    trace.nullField ??= field ?? '';
  };
  if (rest !== null) {
    const replaced = new ReplacedStream(chain(pieces, rest), findPlaces(call), record);
    return { ...reply, pieces: [], rest: replaced, lengthBytes: null };
  }
  if (!pieces.some(mayHaveNonNumber)) return reply;
  const whole = Buffer.concat(pieces);
  const found = listNonNumbers(whole);
  for (const { field } of found) record(field);
  const replaced = replaceNonNumbers(whole, found);
  return { ...reply, pieces: [replaced], lengthBytes: replaced.length };
}

/** The floats of records are members. Other results, such as that of `export_data`, can be lists of numbers. */
function findPlaces({ method }: ReadingCall): NonNumberPlaces {
  return findResultForm(method) === null ? 'lists' : 'records';
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

/**
 * Step: sends the answer. A result is streamed with back-pressure. If it breaks off, the caller's connection is closed,
 * so that a truncated answer never looks complete.
 */

import { type AnswerHeaders, type AnswerWriter, ByteStreamError } from '@erp-proxy/async/streams';
import { createPauses } from '@erp-proxy/async/tasks';
import { Denial, INTERNAL } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { AnswerSummary, Reply, ResultReply } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import { CALLER_GONE, denyBrokenOff } from '../terms/upstream-denials.ts';
import {
  buildErrorAnswer,
  buildResultAnswer,
  buildResultHead,
  describeDenial,
  listDenialHeaders,
} from './envelope.ts';
import { ReadingPace } from './reading-pace.ts';

/** The facts about a call that its answer depends on. */
export interface AnswerContext {
  id: Uint8Array;
  writer: AnswerWriter;
  deadline: Deadline;
  isReadOnly: boolean;
  headers: AnswerHeaders;
  dialect: Dialect;
  /** Minimum rate at which the caller must read the answer; 0: none. */
  bytesPerSecondMin: number;
}

export async function answerCall(reply: Reply, context: AnswerContext): Promise<AnswerSummary> {
  if (reply instanceof Denial) {
    const isGone = reply === CALLER_GONE || context.deadline.reason === 'caller_left';
    return isGone ? CALLER_LEFT : answerDenial(reply, context);
  }
  const { id, writer, headers } = context;
  if (reply.kind === 'fault') {
    writer.sendWhole(200, headers, buildErrorAnswer(id, reply.fault));
    return { type: reply.fault.data.type, code: reply.fault.code, httpStatus: 200 };
  }
  if (reply.kind === 'kept') {
    writer.sendWhole(reply.status, { ...headers, 'idempotency-replayed': 'true' }, reply.body);
    return { type: 'replayed', code: null, httpStatus: reply.status };
  }
  if (reply.kind === 'deferred') {
    writer.sendWhole(ACCEPTED, { ...headers, ...reply.headers }, reply.body);
    return { type: 'deferred', code: null, httpStatus: ACCEPTED };
  }
  if (reply.file !== undefined) return await sendFile(reply, reply.file, context);
  if (reply.rest === null) {
    writer.sendWhole(200, headers, buildResultAnswer(id, reply.pieces, reply.tail));
    return OK;
  }
  return await streamResult(buildResultHead(id), reply, reply.rest, context);
}

/** Sends the bytes of a file without an envelope. */
async function sendFile(
  reply: ResultReply,
  file: AnswerHeaders,
  context: AnswerContext,
): Promise<AnswerSummary> {
  const headers = { ...context.headers, ...file };
  if (reply.rest !== null) return await streamResult(NO_HEAD, reply, reply.rest, { ...context, headers });
  context.writer.sendWhole(200, headers, Buffer.concat(reply.pieces));
  return OK;
}

const NO_HEAD = new Uint8Array(0);

const ACCEPTED = 202;
const OK: AnswerSummary = { type: 'ok', code: null, httpStatus: 200 };

/** The caller has left, and the record must not blame Odoo. 499 is the status that nginx logs in this case. */
export const CALLER_LEFT: AnswerSummary = { type: 'caller_left', code: null, httpStatus: 499 };

/** Sends a denial as the answer. */
export function answerDenial(
  denial: Denial,
  { id, writer, headers, dialect }: Pick<AnswerContext, 'id' | 'writer' | 'headers' | 'dialect'>,
): AnswerSummary {
  const { httpStatus, error } = describeDenial(denial, dialect);
  const { rule, detail } = denial.more;
  writer.sendWhole(httpStatus, { ...headers, ...listDenialHeaders(denial) }, buildErrorAnswer(id, error));
  return {
    type: denial.type,
    code: error.code,
    httpStatus,
    ...(rule === undefined ? {} : { rule }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/** Answers an internal error, or closes the connection if the answer has begun. */
export function answerInternal(id: Uint8Array, writer: AnswerWriter, dialect: Dialect): AnswerSummary {
  if (writer.restart()) return answerDenial(INTERNAL, { id, writer, headers: {}, dialect });
  writer.breakOff();
  return { type: 'internal', code: null, httpStatus: 200 };
}

async function streamResult(
  head: Uint8Array,
  reply: ResultReply,
  rest: NonNullable<ResultReply['rest']>,
  context: AnswerContext,
): Promise<AnswerSummary> {
  const { writer, deadline } = context;
  // Without this, a write to a caller that has stopped reading would never settle.
  const breakOff = () => writer.breakOff();
  deadline.signal.addEventListener('abort', breakOff);
  try {
    if (deadline.signal.aborted)
      throw new ByteStreamError('aborted', 'the call ended before its answer was sent');
    const { lengthBytes, tail } = reply;
    const ending = new EndingCheck(reply);
    writer.begin(200, context.headers, lengthBytes === null ? null : head.length + lengthBytes + tail.length);
    for (const piece of reply.pieces) ending.take(piece);
    // Writes of one iteration of the event loop are sent together. A copy of the first piece (up to 64 KiB) costs more.
    let drained = head.length === 0 ? undefined : writer.write(head);
    for (const piece of reply.pieces) drained = writer.write(piece);
    const waitAtPace = watchPace(context);
    await waitAtPace(head.length + sum(reply.pieces), drained);
    for (let piece = await rest.next(); piece !== null; piece = await rest.next()) {
      ending.take(piece);
      await waitAtPace(piece.length, writer.write(piece));
    }
    ending.finish();
    if (tail.length > 0) await writer.write(tail);
    writer.end();
    return OK;
  } catch (error) {
    rest.cancel();
    if (!(error instanceof ByteStreamError)) throw error;
    return breakAnswerOff(error.message, context);
  } finally {
    deadline.signal.removeEventListener('abort', breakOff);
  }
}

/**
 * Bytes that are sent without a pause. A turn of the event loop receives up to 2 MiB of an answer, in pieces of a byte
 * if the server wants it.
 */
const SLICE_BYTES = 512 * 1024;
/** Bytes that take as long as the handling of a piece. */
const PIECE_BYTES = 512;

/**
 * Returns a function that waits until the caller has read the bytes, and others have had their turn. It throws if the
 * caller is too slow.
 */
function watchPace({ writer, bytesPerSecondMin }: AnswerContext) {
  const pace = new ReadingPace(bytesPerSecondMin);
  const isCounted = () => !writer.isHeldBack;
  const pause = createPauses(SLICE_BYTES);
  return async (bytes: number, drained: Promise<void> | undefined): Promise<void> => {
    if (!(await pace.waitUntilRead(bytes, drained, isCounted))) throw pace.slowCallerError;
    await pause(bytes + PIECE_BYTES);
  };
}

function sum(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((bytes, { length }) => bytes + length, 0);
}

/** Answers with an error if nothing was sent yet. Otherwise closes the connection. */
async function breakAnswerOff(detail: string, context: AnswerContext): Promise<AnswerSummary> {
  const { writer, deadline, isReadOnly } = context;
  if (writer.restart())
    return await answerCall(denyBrokenOff(deadline, { outcome: 'unknown', isReadOnly, detail }), context);
  writer.breakOff();
  return { type: deadline.reason ?? 'broken_off', code: null, httpStatus: 200, detail };
}

/**
 * Checks that a long answer ends with the expected byte. If its length is known, the last piece is checked before it is
 * sent, because after it the caller would have a complete answer.
 */
class EndingCheck {
  #missingBytes: number | null;
  readonly #expectedByte: number | null;
  #lastByte = 0;

  constructor({ lengthBytes, lastByte }: ResultReply) {
    this.#missingBytes = lengthBytes;
    this.#expectedByte = lastByte;
  }

  take(piece: Uint8Array): void {
    let end = piece.length;
    while (end > 0 && WHITESPACE.has(piece[end - 1] as number)) end--;
    if (end > 0) this.#lastByte = piece[end - 1] as number;
    if (this.#missingBytes === null) return;
    this.#missingBytes -= piece.length;
    if (this.#missingBytes <= 0) this.finish();
  }

  finish(): void {
    if (this.#expectedByte !== null && this.#lastByte !== this.#expectedByte)
      throw new ByteStreamError('broken_off', 'the answer does not end with its closing brace');
  }
}

const WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

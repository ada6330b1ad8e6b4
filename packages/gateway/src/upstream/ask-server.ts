/**
 * Asks the server of a call for something that the proxy itself needs for that call. The question is a call of the same
 * client: it passes the steps around sending, and so waits for its turn. It has its own time limit, because several
 * callers can wait for its answer.
 */
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import { type CallContext, copyCall, startTrace } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import { type FaultReply, isResult, type Reply, type ResultReply } from '../terms/reply.ts';
import { type Deadline, RequestTime } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyBrokenOff } from '../terms/upstream-denials.ts';

/** A method that only reads, with named arguments. */
export interface Question {
  target: Target;
  model: string;
  method: string;
  /** A JSON object. */
  keyword: Uint8Array;
}

/** Runs the steps around sending for a question. */
export type RunQuestion = (call: TargetedCall, context: CallContext) => Promise<Reply>;

/** The JSON of the result, or why there is none. */
export type ServerAnswer = { result: Buffer } | { failed: FaultReply | Denial };

/** Time limit of a question. */
const ANSWER_MS = 15_000;
/** The fields of the largest models of Odoo take some 50 KB. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const POSITIONAL = Buffer.from('[]');
const CLOSING_BRACE = 0x7d;

export async function askServer(
  question: Question,
  caller: CallContext,
  run: RunQuestion,
  nowMs: () => number,
): Promise<ServerAnswer> {
  const time = new RequestTime({ nowMs, defaultMs: ANSWER_MS });
  const trace = startTrace(nowMs(), caller.trace.traceparent, caller.trace.traced);
  const context = copyCall(caller, { time, trace, approvalRule: null });
  const { time: callerTime } = caller;
  const endAtShutdown = () => {
    if (callerTime.deadline.reason === 'shutdown') time.deadline.end('shutdown');
  };
  callerTime.signal.addEventListener('abort', endAtShutdown);
  time.start(null);
  try {
    const call: TargetedCall = { ...question, params: POSITIONAL, records: 'unsaid', isReadOnly: true };
    return await readWholeReply(await run(call, context), time.deadline, DESCRIPTION);
  } finally {
    callerTime.signal.removeEventListener('abort', endAtShutdown);
    context.held.dispose();
    time.deadline.clear();
  }
}

/** The bounds of an answer that is read whole. */
export interface WholeReplyOptions {
  bytesMax: number;
  /** For an answer that is larger, or has no result. */
  unreadable: Denial;
}

/** The result of a reply as a whole. */
export async function readWholeReply(
  reply: Reply,
  deadline: Deadline,
  { bytesMax, unreadable }: WholeReplyOptions,
): Promise<ServerAnswer> {
  if (!isResult(reply)) {
    if (reply instanceof Denial || reply.kind === 'fault') return { failed: reply };
    return { failed: unreadable };
  }
  try {
    const result = await readWhole(reply, bytesMax);
    return result === null ? { failed: unreadable } : { result };
  } catch (error) {
    if (!(error instanceof ByteStreamError) || error.reason === 'bomb') return { failed: unreadable };
    // Another caller may get the rest, so nothing is to be kept of this answer.
    return {
      failed: denyBrokenOff(deadline, { outcome: 'not_sent', isReadOnly: true, detail: error.message }),
    };
  }
}

/** The value alone; null if it is too large. */
async function readWhole({ pieces, rest, tail }: ResultReply, bytesMax: number): Promise<Buffer | null> {
  const arrived = Buffer.concat(pieces);
  const missing = rest === null ? Buffer.alloc(0) : await readStream(rest, bytesMax);
  if (missing === null || arrived.length + missing.length > bytesMax) return null;
  const whole = Buffer.concat([arrived, missing, tail]);
  // The closing brace of the envelope is the last one.
  return whole.subarray(0, whole.lastIndexOf(CLOSING_BRACE));
}

/** For an answer that is too large, or whose result is not what was asked for. */
export const UNREADABLE = new Denial(
  'upstream_bad_response',
  'Odoo did not describe its models in a form that can be read.',
  { outcome: 'not_sent' },
);

const DESCRIPTION: WholeReplyOptions = { bytesMax: ANSWER_BYTES_MAX, unreadable: UNREADABLE };

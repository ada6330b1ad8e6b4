/** Step: tells the observers how a call ended. No values, keys or tracebacks go in. */
import type { CallRecord, Events } from '../observe/events.ts';
import type { Outcome } from './answer.ts';
import { Denial } from './denial.ts';
import type { Call, Read } from './parse.ts';
import type { ServerAddress } from './resolve.ts';
import type { Protocol } from './translate.ts';

/** What is known of a call as it goes along. */
export interface CallTrace {
  startedMs: number;
  /** When the request went to Odoo and when the head of its answer came; null if it did not. */
  sentMs: number | null;
  answeredMs: number | null;
  attempts: number;
  upstreamStatus: number | null;
  target: (ServerAddress & { db?: string }) | null;
  protocol: Protocol | null;
  /** Whose answer a read was given, where it was not made a call of its own. */
  sharedFrom: CallRecord['sharedFrom'];
  /** Of an answer that was kept. */
  ageMs: number | null;
}

export function recordCall(
  events: Events,
  more: Pick<CallRecord, 'requestId' | 'keyId' | 'batchIndex'> & { endedMs: number },
  read: Read<{ model?: string; method?: string; instance?: Call['instance'] }>,
  trace: CallTrace,
  outcome: Outcome,
): void {
  const call = read.call instanceof Denial ? null : read.call;
  events.callEnded({
    requestId: more.requestId,
    keyId: more.keyId,
    batchIndex: more.batchIndex,
    id: Buffer.from(read.id.buffer, read.id.byteOffset, read.id.length).toString(),
    instance: call?.instance !== undefined && 'name' in call.instance ? call.instance.name : null,
    upstream: trace.target === null ? null : trace.target.origin + trace.target.pathPrefix,
    db: trace.target?.db ?? null,
    model: call?.model ?? null,
    method: call?.method ?? null,
    outcome: outcome.type,
    code: outcome.code,
    httpStatus: outcome.httpStatus,
    protocol: trace.protocol,
    upstreamStatus: trace.upstreamStatus,
    attempts: trace.attempts,
    sharedFrom: trace.sharedFrom,
    totalMs: more.endedMs - trace.startedMs,
    upstreamMs: trace.sentMs === null ? null : (trace.answeredMs ?? more.endedMs) - trace.sentMs,
    detail: outcome.detail ?? null,
  });
}

/** Step: emits the event for the end of a call. It contains no values, keys or tracebacks. */

import { parseBaseUrl } from '@erp-proxy/egress/policy';
import type { CallRecord, Events } from '../../observe/events.ts';
import type { AnswerSummary } from '../terms/answer-summary.ts';
import type { CallTrace } from '../terms/call-trace.ts';
import { Denial } from '../terms/denial.ts';
import type { AnyParsed } from '../terms/operation.ts';
import type { ParsedCall } from '../terms/parsed-body.ts';
import { findTraceId } from './traceparent.ts';

export function recordCall(
  events: Events,
  more: Pick<CallRecord, 'requestId' | 'keyId' | 'clientId' | 'address' | 'batchIndex' | 'via' | 'actor'> & {
    endedMs: number;
  },
  read: ParsedCall<AnyParsed>,
  trace: CallTrace,
  summary: AnswerSummary,
): void {
  const call = read.call instanceof Denial ? null : read.call;
  const target = trace.target ?? findTarget(call);
  const { traced, traceparent } = trace;
  const traceId = traced?.traceId ?? (traceparent === null ? null : findTraceId(traceparent));
  const record: CallRecord = {
    requestId: more.requestId,
    keyId: more.keyId,
    clientId: more.clientId,
    address: more.address,
    batchIndex: more.batchIndex,
    id: Buffer.from(read.id.buffer, read.id.byteOffset, read.id.length).toString(),
    instance: call?.instance !== undefined && 'name' in call.instance ? call.instance.name : null,
    upstream: target === null ? null : target.origin + target.pathPrefix,
    db: target?.db ?? null,
    model: call?.model ?? null,
    method: call?.method ?? null,
    outcome: summary.type,
    code: summary.code,
    rule: summary.rule ?? null,
    approval: trace.approval,
    via: more.via,
    ...(more.actor === undefined ? null : { actor: more.actor }),
    ...(traceId === null ? null : { traceId }),
    httpStatus: summary.httpStatus,
    protocol: trace.protocol,
    upstreamStatus: trace.upstreamStatus,
    attempts: trace.attempts,
    sharedFrom: trace.sharedFrom,
    totalMs: more.endedMs - trace.startedMs,
    upstreamMs: trace.sentMs === null ? null : (trace.answeredMs ?? more.endedMs) - trace.sentMs,
    detail: summary.detail ?? null,
  };
  events.callEnded(record);
  trace.traced?.end(record, more.endedMs);
}

/**
 * For a call that was refused before its server was resolved. The path is left out, because it can contain anything.
 */
function findTarget(call: AnyParsed | null): CallTrace['target'] {
  if (call?.address !== undefined) return call.address;
  if (call?.instance === undefined || 'name' in call.instance) return null;
  const address = parseBaseUrl(call.instance.url);
  return 'problem' in address ? null : { ...address, pathPrefix: '', db: call.instance.db };
}

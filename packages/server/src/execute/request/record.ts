/** Step: emits the event for the end of a call. It contains no values, keys or tracebacks. */

import { parseBaseUrl } from '@erp-proxy/egress/policy';
import type { CallRecord, Events } from '../../observe/events.ts';
import type { CallContext } from '../terms/call-context.ts';
import type { CallTrace } from '../terms/call-trace.ts';
import type { AnyParsed } from '../terms/parsed-body.ts';
import type { AnswerSummary } from '../terms/reply.ts';
import { findTraceId } from './start-traced.ts';

/** Every attempt to run a call has the key with which the request came. */
export function recordCall(
  { request, trace, index, id, parsed: call }: CallContext,
  summary: AnswerSummary,
  endedMs: number,
  events: Events,
): void {
  const { exchange, actor, via, isBatch, client } = request;
  const { key } = client!;
  const target = trace.target ?? findTarget(call);
  const { traced, traceparent } = trace;
  const traceId = traced?.traceId ?? (traceparent === null ? null : findTraceId(traceparent));
  const record: CallRecord = {
    requestId: exchange.requestId,
    keyId: key.id,
    clientId: key.clientId,
    address: (actor ?? exchange).address,
    batchIndex: isBatch ? index : null,
    id: Buffer.from(id.buffer, id.byteOffset, id.length).toString(),
    instance: call?.instance !== undefined && 'name' in call.instance ? call.instance.name : null,
    upstream: target === null ? null : target.origin + target.pathPrefix,
    db: target?.db ?? null,
    model: call?.model ?? null,
    method: call?.method ?? null,
    outcome: summary.type,
    code: summary.code,
    rule: summary.rule ?? null,
    approval: trace.approval,
    via,
    ...(actor === null ? null : { actor: actor.name }),
    ...(traceId === null ? null : { traceId }),
    httpStatus: summary.httpStatus,
    protocol: trace.protocol,
    upstreamStatus: trace.upstreamStatus,
    attempts: trace.attempts,
    sharedFrom: trace.sharedFrom,
    totalMs: endedMs - trace.startedMs,
    upstreamMs: trace.sentMs === null ? null : (trace.answeredMs ?? endedMs) - trace.sentMs,
    detail: summary.detail ?? null,
  };
  events.callEnded(record);
  trace.traced?.end(record, endedMs);
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

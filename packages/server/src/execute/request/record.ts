/** Step: tells the observers how a call ended. No values, keys or tracebacks go in. */
import type { CallRecord, Events } from '../../observe/events.ts';
import { readBaseUrl } from '../call/base-url.ts';
import type { Call, Read } from '../call/parse.ts';
import type { CallTrace } from '../terms/call-trace.ts';
import { Denial } from '../terms/denial.ts';
import type { Outcome } from './answer.ts';

export function recordCall(
  events: Events,
  more: Pick<CallRecord, 'requestId' | 'keyId' | 'address' | 'batchIndex'> & { endedMs: number },
  read: Read<{ model?: string; method?: string; instance?: Call['instance'] }>,
  trace: CallTrace,
  outcome: Outcome,
): void {
  const call = read.call instanceof Denial ? null : read.call;
  const target = trace.target ?? findTarget(call?.instance);
  events.callEnded({
    requestId: more.requestId,
    keyId: more.keyId,
    address: more.address,
    batchIndex: more.batchIndex,
    id: Buffer.from(read.id.buffer, read.id.byteOffset, read.id.length).toString(),
    instance: call?.instance !== undefined && 'name' in call.instance ? call.instance.name : null,
    upstream: target === null ? null : target.origin + target.pathPrefix,
    db: target?.db ?? null,
    model: call?.model ?? null,
    method: call?.method ?? null,
    outcome: outcome.type,
    code: outcome.code,
    rule: outcome.rule ?? null,
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

/** Of a call that was refused before its server was looked at, but names it. A path that is no server's can be anything. */
function findTarget(instance: Call['instance'] | undefined): CallTrace['target'] {
  if (instance === undefined || 'name' in instance) return null;
  const address = readBaseUrl(instance.url);
  return address instanceof Denial ? null : { ...address, pathPrefix: '', db: instance.db };
}

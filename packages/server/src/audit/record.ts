/**
 * What a record of the audit holds, and its text in the store. Values of a call, its `id` and secrets are not part of
 * one; nor are causes for operators, which the log has. Pure.
 */
import type { AuditActView, AuditCallView, AuditView } from '@erp-proxy/contract';
import type { CallRecord, RefusalRecord } from '../observe/events.ts';
import type { AuditRow } from '../stores/ports.ts';

/** What was done to the proxy itself, by whom and from where. */
export interface Act extends Pick<AuditActView, 'actor' | 'address' | 'action' | 'target' | 'changes'> {
  requestId: string | null;
}

/** A call as far as it is recorded. */
export type AuditedCall = Omit<
  CallRecord,
  'id' | 'protocol' | 'upstreamStatus' | 'attempts' | 'sharedFrom' | 'detail'
>;

export function printCall(call: AuditedCall, at: number): string {
  const record: Omit<AuditCallView, 'seq'> = {
    kind: 'call',
    time: new Date(at).toISOString(),
    request_id: call.requestId,
    key_id: call.keyId,
    instance: call.instance,
    upstream: call.upstream,
    db: call.db,
    model: call.model,
    action: call.method,
    outcome: call.outcome,
    code: call.code,
    http_status: call.httpStatus,
    batch_index: call.batchIndex,
    total_ms: tenth(call.totalMs),
    upstream_ms: call.upstreamMs === null ? null : tenth(call.upstreamMs),
  };
  return JSON.stringify(record);
}

export function printAct(act: Act, at: number): string {
  const record: Omit<AuditActView, 'seq'> = {
    kind: 'admin',
    time: new Date(at).toISOString(),
    request_id: act.requestId,
    actor: act.actor,
    address: act.address,
    action: act.action,
    target: act.target,
    changes: act.changes,
  };
  return JSON.stringify(record);
}

/** A request that never became a call is recorded as a call of nothing. */
export function asCall({ requestId, keyId, outcome, httpStatus }: RefusalRecord): AuditedCall {
  return {
    requestId,
    keyId,
    instance: null,
    batchIndex: null,
    upstream: null,
    db: null,
    model: null,
    method: null,
    outcome,
    code: null,
    httpStatus,
    totalMs: 0,
    upstreamMs: null,
  };
}

export function readView({ seq, record }: AuditRow): AuditView {
  try {
    return { seq, ...JSON.parse(record) };
  } catch (cause) {
    const message = `Record ${seq} of the audit is not JSON: it was changed in the store. See "erp-proxy audit verify".`;
    throw new Error(message, { cause });
  }
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}

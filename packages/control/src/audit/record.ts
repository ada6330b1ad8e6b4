/**
 * The members of an audit record, and its text in the store. A record omits the values and the `id` of a call, secrets,
 * and the causes of errors, which are in the log for operators. Pure.
 */
import {
  type ActorView,
  type AuditAdminView,
  type AuditCallView,
  type AuditView,
  cutText,
} from '@erp-proxy/contract';
import type { CallRecord, RefusalRecord } from '@erp-proxy/observe/events';
import type { AuditRow } from '@erp-proxy/stores/ports';
import { printTime } from '@erp-proxy/text';
import { readActor } from './actors.ts';

/** An action of an administrator: what was done, by whom and from where. */
export interface AdminAction
  extends Pick<AuditAdminView, 'actor' | 'address' | 'action' | 'target' | 'changes'> {
  requestId: string | null;
  /** Names and patterns of the instances that it concerns; null or left out: it reaches further. */
  instances?: readonly string[] | null;
}

/** The members of a call that are recorded. */
export type AuditedCall = Omit<
  CallRecord,
  'id' | 'protocol' | 'upstreamStatus' | 'attempts' | 'sharedFrom' | 'detail'
>;

export function printCall(call: AuditedCall, at: number): string {
  const record: Omit<AuditCallView, 'seq'> = {
    kind: 'call',
    time: printTime(at),
    request_id: call.requestId,
    key_id: call.keyId,
    client_id: call.clientId,
    address: call.address,
    instance: cleanName(call.instance),
    upstream: cleanName(call.upstream),
    db: cleanName(call.db),
    model: cleanName(call.model),
    action: cleanName(call.method),
    outcome: call.outcome,
    rule: cleanName(call.rule),
    approval: call.approval,
    via: call.via,
    ...(call.actor === undefined ? null : { actor: cleanActor(call.actor) }),
    ...(call.person === undefined ? null : { person: call.person }),
    ...(call.odooLogin === undefined ? null : { odoo_login: cleanName(call.odooLogin) }),
    ...(call.traceId === undefined ? null : { trace_id: call.traceId }),
    code: call.code,
    http_status: call.httpStatus,
    batch_index: call.batchIndex,
    total_ms: roundToTenth(call.totalMs),
    upstream_ms: call.upstreamMs === null ? null : roundToTenth(call.upstreamMs),
  };
  return JSON.stringify(record);
}

export function printAdminAction(
  { requestId, actor, address, action, target, instances, changes }: AdminAction,
  at: number,
): string {
  const record: Omit<AuditAdminView, 'seq'> = {
    kind: 'admin',
    time: printTime(at),
    request_id: requestId,
    actor: cleanActor(actor),
    address,
    action,
    target: cleanName(target, ID_LENGTH_MAX),
    ...(instances ? { instances: [...instances] } : null),
    changes,
  };
  return JSON.stringify(record);
}

/** Copies these members only: the given actor can have others. */
function cleanActor({ type, id, name }: ActorView): ActorView {
  return { type, id: cleanName(id, ID_LENGTH_MAX), name: cleanName(name) };
}

/** A request that was refused before its call was read is recorded as a call without server and method. */
export function toAuditedCall({
  requestId,
  keyId,
  clientId,
  address,
  outcome,
  rule,
  refusedKey,
  actor,
  httpStatus,
}: RefusalRecord): AuditedCall {
  return {
    requestId,
    keyId: keyId ?? refusedKey?.id ?? null,
    clientId,
    address,
    instance: null,
    batchIndex: null,
    upstream: null,
    db: null,
    model: null,
    method: null,
    outcome,
    rule: refusedKey === null ? rule : `key:${refusedKey.why}`,
    approval: null,
    ...(actor === undefined ? { via: null } : { via: 'console', actor }),
    code: null,
    httpStatus,
    totalMs: 0,
    upstreamMs: null,
  };
}

/**
 * Number of characters of records that are read, verified or printed without a pause, which takes some milliseconds.
 * The record of an administrator's action can have two policies.
 */
export const SLICE_LENGTH = 128 * 1024;

/** Parses a record. One that cannot be read is shown as damaged, so that the others can still be read. */
export function readView({ seq, at, record }: AuditRow): AuditView {
  const view = parseRecord(record);
  if (view !== null) return { ...view, seq };
  return { kind: 'damaged', seq, time: printAnyTime(at), request_id: null, problem: DAMAGED };
}

const DAMAGED = 'This is no record of the audit: it was changed in the store. See what `audit verify` finds.';

/** Null if the text is not a record of the audit. */
function parseRecord(record: string): Omit<AuditCallView, 'seq'> | Omit<AuditAdminView, 'seq'> | null {
  try {
    const { actor: given, ...members } = JSON.parse(record);
    if (typeof members.time !== 'string') return null;
    const actor = readActor(given);
    if (members.kind === 'call') {
      if (typeof members.outcome !== 'string') return null;
      return { ...LATER_MEMBERS, ...members, ...(actor === null ? null : { actor }) };
    }
    const isAdminAction =
      members.kind === 'admin' &&
      actor !== null &&
      typeof members.action === 'string' &&
      typeof members.target === 'string';
    return isAdminAction && typeof members.changes === 'object' && members.changes !== null
      ? { ...members, actor }
      : null;
  } catch {
    return null;
  }
}

/** Members that older records lack, with their values. */
const LATER_MEMBERS = { address: null, rule: null, client_id: null, approval: null, via: null };

function printAnyTime(at: number): string {
  return printTime(Number.isNaN(new Date(at).getTime()) ? 0 : at);
}

function roundToTenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Control and format characters (including direction marks), line and paragraph separators, lone surrogates. */
const STRANGE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const LENGTH_MAX = 256;
/** Enough for `subject `, the name of a provider and a subject of 255 characters: a cut id could be that of another. */
const ID_LENGTH_MAX = 320;

/**
 * Cleans names that callers choose, for records: replaces characters that control a terminal or reverse the direction
 * of text, and cuts long names.
 */
export function cleanName(name: string, lengthMax?: number): string;
export function cleanName(name: string | null): string | null;
export function cleanName(name: string | null, lengthMax = LENGTH_MAX): string | null {
  if (name === null) return null;
  const start = name.length > lengthMax ? `${cutText(name, lengthMax - 1)}…` : name;
  return start.replace(STRANGE, '\ufffd');
}

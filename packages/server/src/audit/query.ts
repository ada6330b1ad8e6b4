/** Reads the parameters of a search or an export. Pure. */
import type { AuditQuery } from '@erp-proxy/contract';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import type { AuditFilters } from '../stores/ports/audit.ts';

/** An invalid parameter. The message is for the user. */
export class AuditQueryError extends RangeError {
  override readonly name = 'AuditQueryError';
}

const FILTERS = [
  'kind',
  'key_id',
  'client_id',
  'approval',
  'via',
  'instance',
  'model',
  'action',
  'outcome',
  'actor',
  'request_id',
  'trace_id',
  'address',
  'upstream',
  'db',
  'rule',
  'code',
  'http_status',
] as const;
/** Outcomes that are not errors. */
const GOOD_OUTCOMES: readonly string[] = ['ok', 'replayed'];
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;

/** Conditions on the records to select. Times are milliseconds since 1970. */
export interface Selection {
  since?: number | undefined;
  until?: number | undefined;
  filters: AuditFilters;
  exceptOutcomes?: readonly string[];
}

export function readSelection(query: AuditQuery): Selection {
  const filters: AuditFilters = {};
  for (const name of FILTERS) if (query[name] !== undefined) Object.assign(filters, { [name]: query[name] });
  return {
    since: readMoment('since', query.since),
    until: readMoment('until', query.until),
    filters,
    ...(query.errors_only === true ? { exceptOutcomes: GOOD_OUTCOMES } : {}),
  };
}

export function readLimit({ limit = LIMIT_DEFAULT }: AuditQuery): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new AuditQueryError(`limit is a whole number from 1 to ${LIMIT_MAX}.`);
}

export function printCursor(beforeSeq: number): string {
  return Buffer.from(`audit ${beforeSeq}`).toString('base64url');
}

export function readCursor({ cursor }: AuditQuery): number | null {
  if (cursor === undefined) return null;
  const [, beforeSeq] = /^audit ([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (beforeSeq !== undefined && printCursor(Number(beforeSeq)) === cursor) return Number(beforeSeq);
  throw new AuditQueryError('cursor is not one of this list: give `next` of the page before it, unchanged.');
}

function readMoment(name: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time !== null) return time;
  throw new AuditQueryError(`${name} is ${TIME_FORM}.`);
}

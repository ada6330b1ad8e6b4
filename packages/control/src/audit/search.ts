/** Searches and exports the audit, by the parameters of a query. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPauses } from '@erp-proxy/async/tasks';
import type { AuditQuery, AuditView, Page } from '@erp-proxy/contract';
import type { AuditFilters, AuditRow, AuditStore } from '@erp-proxy/stores/ports';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import { readView, SLICE_LENGTH } from './record.ts';

/** Number of rows that a store scans without a pause, which takes some milliseconds. */
const SCAN_ROWS_MAX = 2000;
const SCANS_MAX = 50;
/**
 * Number of characters of records on a page. The record that reaches it is the last one, because a page is serialized
 * without a pause.
 */
const PAGE_LENGTH_MAX = 1024 * 1024;

/**
 * The part of the audit that somebody may see. Numbers of records and cursors are hidden, because they would tell how
 * many records are between the visible ones.
 */
export interface AuditScope {
  isVisible(view: AuditView): boolean;
  numbers: HiddenNumbers;
}

/** Replaces numbers by others that tell neither their order nor their distance. */
export interface HiddenNumbers {
  hide(number: number): number;
  /** The number that was hidden. */
  open(hidden: number): number;
}

const WHOLE: AuditScope = {
  isVisible: () => true,
  numbers: { hide: (number) => number, open: (hidden) => hidden },
};

/** The record with this number; null if there is none, it is not visible, or retention has removed it. */
export async function findRecord(
  store: Pick<AuditStore, 'search'>,
  given: number,
  { isVisible, numbers }: AuditScope = WHOLE,
): Promise<AuditView | null> {
  const seq = numbers.open(given);
  const { rows } = await store.search({ filters: {}, beforeSeq: seq + 1, limit: 1, scanMax: 1 });
  const [row] = rows;
  if (row?.seq !== seq || numbers.hide(seq) !== given) return null;
  const view = readView(row);
  return isVisible(view) ? { ...view, seq: given } : null;
}

/**
 * Reads one page of the audit, newest first. A store scans a limited number of rows at a time, so that a search for a
 * rare value delays no call. The next page continues where this one ended.
 */
export async function searchRecords(
  store: Pick<AuditStore, 'search'>,
  query: AuditQuery,
  scope?: AuditScope,
): Promise<Page<AuditView>> {
  if (scope !== undefined) return searchVisible(store, query, scope);
  const selection = readSelection(query);
  const limit = readLimit(query);
  let beforeSeq = readCursor(query, WHOLE.numbers);
  const found: AuditRow[] = [];
  for (let scans = 1; ; scans++) {
    const { rows, next } = await store.search({
      ...selection,
      beforeSeq,
      limit: limit - found.length,
      scanMax: SCAN_ROWS_MAX,
    });
    found.push(...rows);
    beforeSeq = next;
    if (next === null || found.length === limit || scans === SCANS_MAX) break;
    await nextTurn();
  }
  const items = await readViews(found);
  if (items.length < found.length) beforeSeq = found[items.length - 1]?.seq ?? beforeSeq;
  return { items, next: beforeSeq === null ? null : printCursor(beforeSeq) };
}

/**
 * The same for a part of the audit. Reads one visible record more than the page has: so there is a next page only if it
 * has a record, or if this search was cut.
 */
async function searchVisible(
  store: Pick<AuditStore, 'search'>,
  query: AuditQuery,
  { isVisible, numbers }: AuditScope,
): Promise<Page<AuditView>> {
  const selection = readSelection(query);
  const limit = readLimit(query);
  const pause = createPauses(SLICE_LENGTH);
  const items: AuditView[] = [];
  let length = 0;
  let beforeSeq = readCursor(query, numbers);
  for (let scans = 1; ; scans++) {
    const { rows, next } = await store.search({
      ...selection,
      beforeSeq,
      limit: SCAN_ROWS_MAX,
      scanMax: SCAN_ROWS_MAX,
    });
    for (const row of rows) {
      await pause(row.record.length);
      const view = readView(row);
      if (!isVisible(view)) continue;
      if (items.length === limit || length >= PAGE_LENGTH_MAX) {
        return { items: hideNumbers(items), next: printCursor(numbers.hide(row.seq + 1)) };
      }
      items.push(view);
      length += row.record.length;
    }
    beforeSeq = next;
    if (next === null || scans === SCANS_MAX) break;
    await nextTurn();
  }
  return {
    items: hideNumbers(items),
    next: beforeSeq === null ? null : printCursor(numbers.hide(beforeSeq)),
  };

  function hideNumbers(views: AuditView[]): AuditView[] {
    return views.map((view) => ({ ...view, seq: numbers.hide(view.seq) }));
  }
}

/** Parses rows until their records reach {@link PAGE_LENGTH_MAX}. */
async function readViews(rows: readonly AuditRow[]): Promise<AuditView[]> {
  const views: AuditView[] = [];
  const pause = createPauses(SLICE_LENGTH);
  let length = 0;
  for (const row of rows) {
    views.push(readView(row));
    length += row.record.length;
    if (length >= PAGE_LENGTH_MAX) break;
    await pause(row.record.length);
  }
  return views;
}

const PAGE_ROWS = 200;

type ReadStore = Pick<AuditStore, 'readAfter' | 'readHead'>;

/** Exports all matching records, oldest first, up to the newest record at the start. */
export function exportRecords(
  store: ReadStore,
  query: AuditQuery,
  scope: AuditScope = WHOLE,
): AsyncIterable<AuditView> {
  return readRecords(store, readSelection(query), scope);
}

async function* readRecords(
  store: ReadStore,
  { since, until, ...wanted }: Selection,
  { isVisible, numbers }: AuditScope,
): AsyncGenerator<AuditView> {
  const head = await store.readHead();
  const last = head?.seq ?? Number.POSITIVE_INFINITY;
  const pause = createPauses(SLICE_LENGTH);
  for (let seq = 0; seq < last; ) {
    const rows = await store.readAfter(seq, PAGE_ROWS);
    if (rows.length === 0) return;
    for (const row of rows) {
      if (row.seq > last) return;
      seq = row.seq;
      await pause(row.record.length);
      // Rows of several processes are not strictly ordered by time, so the export cannot stop at `until`.
      if ((since !== undefined && row.at < since) || (until !== undefined && row.at >= until)) continue;
      const view = readView(row);
      if (matches(view, wanted) && isVisible(view)) yield { ...view, seq: numbers.hide(view.seq) };
    }
  }
}

function matches(view: AuditView, { filters, exceptOutcomes }: Omit<Selection, 'since' | 'until'>): boolean {
  const members: Record<string, unknown> = { ...view };
  if (exceptOutcomes !== undefined && (view.kind !== 'call' || exceptOutcomes.includes(view.outcome)))
    return false;
  if ('actor' in view) members['actor'] = view.actor?.id;
  return Object.entries(filters).every(([name, value]) => members[name] === value);
}

/** An invalid parameter of a search or an export. The message is for the user. */
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
  'person',
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
interface Selection {
  since?: number | undefined;
  until?: number | undefined;
  filters: AuditFilters;
  exceptOutcomes?: readonly string[];
}

function readSelection(query: AuditQuery): Selection {
  const filters: AuditFilters = {};
  for (const name of FILTERS) if (query[name] !== undefined) Object.assign(filters, { [name]: query[name] });
  return {
    since: readMoment('since', query.since),
    until: readMoment('until', query.until),
    filters,
    ...(query.errors_only === true ? { exceptOutcomes: GOOD_OUTCOMES } : {}),
  };
}

function readLimit({ limit = LIMIT_DEFAULT }: AuditQuery): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new AuditQueryError(`limit is a whole number from 1 to ${LIMIT_MAX}.`);
}

function printCursor(beforeSeq: number): string {
  return Buffer.from(`audit ${beforeSeq}`).toString('base64url');
}

function readCursor({ cursor }: AuditQuery, numbers: HiddenNumbers): number | null {
  if (cursor === undefined) return null;
  const [, beforeSeq] = /^audit ([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (beforeSeq !== undefined && printCursor(Number(beforeSeq)) === cursor)
    return numbers.open(Number(beforeSeq));
  throw new AuditQueryError('cursor is not one of this list: give `next` of the page before it, unchanged.');
}

function readMoment(name: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time !== null) return time;
  throw new AuditQueryError(`${name} is ${TIME_FORM}.`);
}

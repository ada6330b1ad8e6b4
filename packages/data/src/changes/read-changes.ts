/**
 * Reads what has changed in a model since a state, through calls on Odoo that `ask` makes. Knows neither HTTP nor who
 * asks: the route and the subscriptions use it. First, the records that match are copied by id. Then scans follow, in
 * the order of `(write_date, id)`. A full scan begins earlier than the last full scan did, by the time that a
 * transaction may take (`overlapSeconds`), and so finds what was committed late. A quick scan finds only what is new,
 * while full scans would cost too much. docs/decisions/0039-changes.md has the proof.
 */
import { hash, randomBytes } from 'node:crypto';
import { createPauses } from '@erp-proxy/async/tasks';
import type { Question } from '../ask-odoo.ts';
import { findAcrossDropped } from '../dropped-records.ts';
import {
  askCopy,
  askFrom,
  askIds,
  askMatching,
  askNewest,
  askSecond,
  askTimes,
  hasTerms,
} from './changes-questions.ts';
import {
  addRecords,
  comparePlaces,
  compareRecords,
  countRecords,
  decodeRuns,
  dropRuns,
  encodeRuns,
  findScanStart,
  LAST_ID,
  limitRuns,
  type Place,
  type Run,
} from './given-records.ts';
import { addIds, compareIds, decodeRanges, encodeRanges, type IdRange } from './id-ranges.ts';
import { dropMember, type ReadRow, readIds, readRows } from './read-rows.ts';
import { CLOCK_TOLERANCE_SECONDS, type ServerTime, UNKNOWN_TIME, updateServerTime } from './server-time.ts';
import {
  type Ask,
  type Change,
  type ChangesBounds,
  type ChangesFault,
  type ChangesQuery,
  type ChangesRead,
  type ChangesState,
  type DeletedSearch,
  type Scan,
  STATE_VERSION,
} from './terms.ts';

/**
 * A full scan reads again all records that were returned within the overlap. If these are at most this many, each
 * request makes a full scan.
 */
const REREAD_ALWAYS = 100;
/** With more records, full scans pause so that they read this number of records a second on average. */
const REREAD_PER_SECOND = 20;
/** The pause is at most this part of the overlap. Changes that were committed late are found after it. */
const REREAD_PAUSE_PART = 1 / 4;
/**
 * A quick scan begins this number of seconds before the time of the last answer, so that it includes transactions of
 * single calls.
 */
const QUICK_OVERLAP_SECONDS = 10;
const PAGE_MIN = 1;
/** The size of a gap in an answer. */
const GAP_BYTES = 60;
/** Rows that are handled without a pause, which takes some milliseconds. */
const SLICE_ROWS = 200;

/** The failure of one page, as an exception within this file. */
class PageError<Failure> extends Error {
  readonly read: { failure: Failure } | { fault: ChangesFault };

  constructor(read: { failure: Failure } | { fault: ChangesFault }) {
    super('page');
    this.read = read;
  }
}

/** `state`: null to read all records that match, from the beginning. */
export async function readChanges<Failure>(
  ask: Ask<Failure>,
  query: ChangesQuery,
  state: ChangesState | null,
  bounds: ChangesBounds,
): Promise<ChangesRead<Failure>> {
  const reader = new Reader(ask, query, bounds, state);
  try {
    if (state === null) await reader.start();
    else await reader.findDeleted();
    // Changes follow what is deleted, because a record may return.
    while (!reader.isDone && reader.hasRoom && (reader.isUnread || !bounds.isOver())) await reader.readPage();
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    // Returns the changes that were read before the failure. If the failure lasts, the next call meets it again.
    if (reader.changes.length === 0) return error.read;
  }
  return { changes: reader.changes, state: reader.state, more: !reader.isDone };
}

/** Reads one answer, page by page. A page changes the state as a whole or not at all. */
class Reader<Failure> {
  readonly #ask: Ask<Failure>;
  readonly #query: ChangesQuery;
  readonly #bounds: ChangesBounds;
  readonly changes: Change[] = [];
  isDone = false;
  /** True until a page was read. */
  isUnread = true;
  #bytes = 0;
  #state: Omit<ChangesState, 'given' | 'deleted'>;
  #runs: Run[];
  #deleted: (Omit<DeletedSearch, 'ranges'> & { ranges: readonly IdRange[] }) | null = null;

  constructor(ask: Ask<Failure>, query: ChangesQuery, bounds: ChangesBounds, state: ChangesState | null) {
    this.#ask = ask;
    this.#query = query;
    this.#bounds = bounds;
    this.#state = state ?? {
      version: STATE_VERSION,
      salt: randomBytes(8).toString('base64'),
      time: UNKNOWN_TIME,
      copiedTo: 0,
      from: null,
      scan: null,
      scannedAt: null,
      pageSize: null,
    };
    this.#runs = decodeRuns(state?.given ?? '');
    if (!query.findsDeleted) return;
    const known = state?.deleted ?? { ranges: '', after: 0, highest: 0, isCompared: false };
    this.#deleted = { ...known, ranges: decodeRanges(known.ranges) };
  }

  get state(): ChangesState {
    const { deleted: _, ...state } = this.#state as ChangesState;
    const deleted = this.#deleted && { ...this.#deleted, ranges: encodeRanges(this.#deleted.ranges) };
    return { ...state, given: encodeRuns(this.#runs), ...(deleted === null ? {} : { deleted }) };
  }

  get hasRoom(): boolean {
    return this.changes.length < this.#bounds.changesMax && this.#bytes < this.#bounds.bytesMax;
  }

  /** Finds the time of the database, from which the scans after the copy begin. */
  async start(): Promise<void> {
    const asked = await this.#ask(askNewest(this.#query));
    if ('failure' in asked) {
      // `write_date` is the only field of the call.
      if (asked.cause === 'query_invalid') throw new PageError({ fault: { type: 'no_write_date' } });
      throw new PageError({ failure: asked.failure });
    }
    const [newest] = await this.#parse(asked.result, 1);
    const { time } = updateServerTime(this.#state.time, asked.clock, newest?.second ?? null);
    this.#state = { ...this.#state, time, from: this.#findFrom(time) };
    if (hasTerms(this.#query.domain)) await this.#skipOthers();
  }

  /**
   * Treats the recent records that do not match the domain as if they had been returned. Otherwise the first scan would
   * return them as `left`, although the copy never had them. One page of them is enough.
   */
  async #skipOthers(): Promise<void> {
    const { from } = this.#state;
    if (from === null) return;
    const { rows } = await this.#askPage((limit) => askFrom(this.#query, from, limit));
    const matching = await this.#findMatching(rows);
    const others = rows.filter((row): row is StampedRow => row.second !== null && !matching.has(row.id));
    const digested = await mapInSlices(others, (row) => this.#digest(row, false));
    this.#runs = addRecords(this.#runs, digested);
  }

  /**
   * Compares the next ids with those that the caller has. Only between two scans, so that scans go on however many
   * records are deleted.
   */
  async findDeleted(): Promise<void> {
    const search = this.#deleted;
    const { copiedTo, scan } = this.#state;
    if (search === null || search.isCompared || copiedTo !== null || scan !== null) return;
    const { after, highest, ranges } = search;
    const { changesMax, idsMax } = this.#bounds;
    const asked = await this.#ask(askIds(this.#query, after, idsMax));
    if ('failure' in asked) throw new PageError({ failure: asked.failure });
    const ids = await readIds(asked.result, idsMax);
    if (ids === null) throw invalidAnswer('It is not a list of ids.');
    if (ids.some((id, at) => id <= (ids[at - 1] ?? after)))
      throw invalidAnswer('The ids of a page are not in their order.');
    const last = ids.at(-1) ?? after;
    const isEnd = ids.length < Math.min(idsMax, asked.limit ?? idsMax);
    const upTo = isEnd ? Math.max(last, highest, ranges.at(-1)?.to ?? 0) : last;
    const compared = compareIds(ranges, ids, { after, upTo, room: changesMax, salt: this.#readSalt() });
    for (const { from, to } of compared.gaps) {
      this.#bytes += GAP_BYTES;
      this.changes.push({ change: 'gone', id: from, to, at: null, record: null });
    }
    const isOver = isEnd && compared.reached >= upTo;
    this.#deleted = {
      ranges: compared.ranges,
      after: isOver ? 0 : compared.reached,
      highest,
      isCompared: true,
    };
  }

  async readPage(): Promise<void> {
    this.isUnread = false;
    if (this.#state.copiedTo === null) await this.#scan();
    else await this.#copy(this.#state.copiedTo);
  }

  async #copy(after: number): Promise<void> {
    const { changesMax } = this.#bounds;
    const { rows, next } = await this.#askPage(
      (limit) => askCopy(this.#query, after, limit),
      changesMax - this.changes.length,
    );
    if (rows.some(({ id }, at) => id <= (rows[at - 1]?.id ?? after)))
      throw invalidAnswer('The records of a page are not in the order of their ids.');
    // Models of other modules may drop records, too: only an empty page is the end.
    this.#state = { ...this.#state, copiedTo: rows.at(-1)?.id ?? (next === null ? null : next.id - 1) };
    const { from } = this.#state;
    const recent = rows.filter(({ second }) => second !== null && second >= (from ?? 0)) as StampedRow[];
    const given = await mapInSlices(recent, (row) => this.#digest(row, true));
    this.#runs = limitRuns(addRecords(this.#runs, given), null);
    if (this.#deleted !== null) {
      const ids = rows.map(({ id }) => id);
      this.#deleted = { ...this.#deleted, ranges: addIds(this.#deleted.ranges, ids, this.#readSalt()) };
    }
    await mapInSlices(rows, (row) => this.#give(row, true));
  }

  async #scan(): Promise<void> {
    const scan = this.#state.scan ?? this.#startScan();
    const { after, isWithinSecond } = scan;
    const { rows, isWhole, next, hasGoneBack, isOutdated } = await this.#askPage((limit) =>
      after !== null && isWithinSecond
        ? askSecond(this.#query, after, limit)
        : askFrom(this.#query, after?.second ?? null, limit),
    );
    const begun = { ...this.#begin(scan, hasGoneBack), isOutdated: scan.isOutdated || isOutdated };
    // The new state of the scan is kept, even if a later call of this page fails.
    this.#state = { ...this.#state, scan: begun };
    const page = placePage(next === null ? rows : [next], scan, isWhole);
    if (next !== null || page === null) {
      // All rows of the page are of one second, or were dropped. The second is therefore read by id.
      const { id, second } = (next ?? rows[0]) as StampedRow;
      const before = next !== null && isWithinSecond ? id - 1 : 0;
      this.#state = {
        ...this.#state,
        scan: { ...begun, after: { second, id: before }, isWithinSecond: true },
      };
      return;
    }
    const matching = await this.#findMatching(page.rows);
    const scanned = await mapInSlices(page.rows, (row) => this.#digest(row, matching.has(row.id)));
    const room = this.#bounds.changesMax - this.changes.length;
    const { give, runs, reached } = compareRecords(this.#runs, scanned, {
      after: after ?? BEGINNING,
      upTo: page.upTo,
      room,
    });
    this.#runs = limitRuns(this.#dropPassed(runs, reached, begun), reached);
    await mapInSlices(give, ({ row }) => this.#give(row, matching.has(row.id)));
    if (reached.second === END.second) this.#endScan(begun);
    else this.#state = { ...this.#state, scan: { ...begun, ...continueAfter(reached) } };
  }

  #startScan(): Scan {
    const { from, time } = this.#state;
    const isFull = from === null || time.now === null || this.#isFullDue();
    const second = isFull ? from : Math.max(from, time.now - QUICK_OVERLAP_SECONDS);
    const after = second === null ? null : { second: findScanStart(this.#runs, second), id: 0 };
    return { isFull, after, isWithinSecond: false, nextFrom: null, isOutdated: false };
  }

  /**
   * Full scans are the rarer, the more records they read again. Without the header `date`, each scan is a full one,
   * because the time is unknown.
   */
  #isFullDue(): boolean {
    const { time, scannedAt } = this.#state;
    if (time.answered === null || time.now === null || scannedAt === null) return true;
    const records = countRecords(this.#runs);
    const pauseSeconds = Math.min(
      records / REREAD_PER_SECOND,
      this.#bounds.overlapSeconds * REREAD_PAUSE_PART,
    );
    return records <= REREAD_ALWAYS || time.now < scannedAt || time.now - scannedAt >= pauseSeconds;
  }

  /** The first answer of a full scan tells where the next one must begin to miss nothing. */
  #begin(scan: Scan, hasGoneBack: boolean): Scan {
    if (!scan.isFull || (scan.nextFrom !== null && !hasGoneBack)) return scan;
    const { from, time } = this.#state;
    const found = this.#findFrom(time);
    if (scan.nextFrom !== null) return { ...scan, nextFrom: Math.min(scan.nextFrom, found ?? scan.nextFrom) };
    this.#state = { ...this.#state, scannedAt: time.now };
    return { ...scan, nextFrom: found === null ? from : Math.max(found, from ?? found) };
  }

  /** Drops runs before the beginning of the next full scan. */
  #dropPassed(runs: readonly Run[], reached: Place, { nextFrom }: Scan): readonly Run[] {
    if (nextFrom === null) return runs;
    const start = { second: nextFrom, id: 0 };
    return dropRuns(runs, comparePlaces(start, reached) < 0 ? start : reached);
  }

  #endScan({ isFull, nextFrom, isOutdated }: Scan): void {
    this.#state = { ...this.#state, from: nextFrom ?? this.#state.from, scan: null };
    if (isOutdated) this.#state = { ...this.#state, scannedAt: null };
    this.isDone = !isOutdated && (isFull || !this.#isFullDue());
    if (this.#deleted !== null) this.#deleted = { ...this.#deleted, isCompared: false };
  }

  #readSalt(): number {
    return Buffer.from(this.#state.salt, 'base64').readInt32BE();
  }

  #findFrom({ now }: ServerTime): number | null {
    return now === null ? null : now - this.#bounds.overlapSeconds - CLOCK_TOLERANCE_SECONDS;
  }

  /**
   * Called when the clock of the server has gone back: records written from now on may be before `from`. Returns false
   * if they cannot be.
   */
  #lowerFrom(): boolean {
    const { from, time } = this.#state;
    const found = this.#findFrom(time);
    if (found === null || from === null || found >= from) return false;
    this.#state = { ...this.#state, from: found };
    return true;
  }

  /**
   * Asks for one page, and for a shorter one if it is too large. `isWhole`: no further records follow. `next`: the
   * record after an empty page whose records were dropped.
   */
  async #askPage(build: (limit: number) => Question, countMax = Number.POSITIVE_INFINITY) {
    for (;;) {
      const size = Math.min(this.#state.pageSize ?? this.#bounds.pageMax, this.#bounds.pageMax, countMax);
      const asked = await this.#ask(build(size));
      if ('failure' in asked) {
        if (asked.cause !== 'too_large' || size <= PAGE_MIN) throw new PageError({ failure: asked.failure });
        this.#state = { ...this.#state, pageSize: Math.max(PAGE_MIN, Math.floor(size / 4)) };
        continue;
      }
      const limit = Math.min(size, asked.limit ?? size);
      const rows = await this.#parse(asked.result, limit);
      const newest = rows.reduce(
        (latest, { second }) => Math.max(latest, second ?? latest),
        Number.NEGATIVE_INFINITY,
      );
      const updated = updateServerTime(
        this.#state.time,
        asked.clock,
        Number.isFinite(newest) ? newest : null,
      );
      this.#state = { ...this.#state, time: updated.time };
      const isOutdated = updated.hasGoneBack && this.#lowerFrom();
      const { hasGoneBack } = updated;
      const isShort = rows.length < limit;
      if (!isShort || !this.#query.dropsRecords)
        return { hasGoneBack, isOutdated, rows, isWhole: isShort, next: null };
      const next = rows.length === 0 ? await this.#findNext(build) : null;
      return { hasGoneBack, isOutdated, rows, isWhole: rows.length === 0 && next === null, next };
    }
  }

  async #findNext(build: (limit: number) => Question): Promise<ReadRow | null> {
    const found = await findAcrossDropped<ReadRow, Failure>(async (limit) => {
      const asked = await this.#ask(askTimes(build(limit)));
      if ('failure' in asked) return { failed: asked.failure, isTooLarge: asked.cause === 'too_large' };
      const [first = null] = await this.#parse(asked.result, limit);
      return { first, isCapped: asked.limit !== null && asked.limit < limit };
    });
    if ('failed' in found) throw new PageError({ failure: found.failed });
    return found.next;
  }

  async #parse(result: Uint8Array, countMax: number): Promise<ReadRow[]> {
    const rows = await readRows(result);
    if (rows === null) throw invalidAnswer('It is not a list of records with `id` and `write_date`.');
    if (rows.length > countMax) throw invalidAnswer('It has more records than were asked for.');
    return rows;
  }

  /** Finds the ids of the rows that match the domain. */
  async #findMatching(rows: readonly ReadRow[]): Promise<ReadonlySet<number>> {
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0 || !hasTerms(this.#query.domain)) return new Set(ids);
    const asked = await this.#ask(askMatching(this.#query, ids));
    if ('failure' in asked) throw new PageError({ failure: asked.failure });
    const found = await readIds(asked.result, ids.length);
    if (found === null) throw invalidAnswer('It is not a list of ids.');
    // The policy has lowered the limit since the page was read.
    if (asked.limit !== null && asked.limit < ids.length) throw invalidAnswer('It has too few records.');
    return new Set(found);
  }

  #digest(row: StampedRow, isMatching: boolean) {
    const { id, second, bytes } = row;
    const head = `${this.#state.salt} ${id} ${second} ${isMatching ? 'upsert' : 'left'} `;
    const text = isMatching ? Buffer.concat([Buffer.from(head), bytes]) : head;
    return { id, second, row, digest: hash('sha256', text, 'buffer').readBigUInt64BE() };
  }

  #give(row: ReadRow, isMatching: boolean): void {
    const { id, second, bytes } = row;
    const at = second === null ? null : new Date(second * 1000).toISOString().replace('.000', '');
    const isTimeAsked = this.#query.fields.includes('write_date');
    const record = !isMatching ? null : isTimeAsked ? bytes : dropMember(row, 'write_date');
    this.#bytes += record?.length ?? 0;
    const search = this.#deleted;
    if (isMatching && search !== null && id > search.highest) this.#deleted = { ...search, highest: id };
    this.changes.push({ change: isMatching ? 'upsert' : 'left', id, at, record });
  }
}

type StampedRow = ReadRow & { readonly second: number };

const BEGINNING: Place = { second: Number.MIN_SAFE_INTEGER, id: 0 };
const END: Place = { second: Number.MAX_SAFE_INTEGER, id: LAST_ID };

/**
 * Orders the rows of a page, and finds up to which place it is complete. Odoo orders by fractions of seconds that it
 * does not show, so the last second of a full page is left to the next page. Null if the page has no other second.
 */
function placePage(
  rows: readonly ReadRow[],
  { after, isWithinSecond }: Scan,
  isWhole: boolean,
): { rows: StampedRow[]; upTo: Place } | null {
  const stamped = rows.filter((row): row is StampedRow => row.second !== null);
  const isWrong = isWithinSecond
    ? (row: StampedRow, at: number) =>
        row.second !== after?.second || row.id <= (stamped[at - 1]?.id ?? after.id)
    : (row: StampedRow, at: number) => row.second < (stamped[at - 1]?.second ?? after?.second ?? row.second);
  const isRepeated = new Set(rows.map(({ id }) => id)).size < rows.length;
  if (stamped.length < rows.length || isRepeated || stamped.some(isWrong))
    throw invalidAnswer('The records of a page are not in the order of `write_date` and `id`.');
  const last = stamped.at(-1);
  if (isWithinSecond) {
    const second = (after as Place).second;
    return { rows: stamped, upTo: { second, id: isWhole ? LAST_ID : (last as StampedRow).id } };
  }
  const sorted = stamped.toSorted(comparePlaces);
  if (isWhole || last === undefined) return { rows: sorted, upTo: END };
  const complete = sorted.filter(({ second }) => second < last.second);
  return complete.length === 0 ? null : { rows: complete, upTo: { second: last.second - 1, id: LAST_ID } };
}

/** Handles the rows with pauses, during which nobody reads the state of the reader. */
async function mapInSlices<Row, Result>(
  rows: readonly Row[],
  handle: (row: Row) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const pause = createPauses(SLICE_ROWS);
  for (const row of rows) {
    results.push(handle(row));
    await pause(1);
  }
  return results;
}

function continueAfter({ second, id }: Place): Pick<Scan, 'after' | 'isWithinSecond'> {
  return id === LAST_ID
    ? { after: { second: second + 1, id: 0 }, isWithinSecond: false }
    : { after: { second, id }, isWithinSecond: true };
}

function invalidAnswer(message: string): PageError<never> {
  return new PageError({ fault: { type: 'answer_invalid', message } });
}

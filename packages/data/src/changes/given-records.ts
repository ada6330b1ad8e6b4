/**
 * What a cursor has returned within the overlap, in bounded space. Records are ordered by (second of `write_date`, id),
 * and each run of neighbours has one digest. Up to RUNS_MAX records, each has a run of its own; beyond, neighbouring
 * runs are joined. If the digest of a run is unchanged, it holds nothing new. If it has changed, all records of the run
 * are returned again. Pure. docs/decisions/0039-changes.md has the proof.
 */

/** A position in the order of records: the second of `write_date` since 1970, and the id. */
export interface Place {
  readonly second: number;
  readonly id: number;
}

/** A record that a scan has read: its digest covers everything that the caller sees of it. */
export interface ScannedRecord extends Place {
  readonly digest: bigint;
}

/** The records from `start` to `end`, both included. */
export interface Run {
  readonly start: Place;
  readonly end: Place;
  readonly count: number;
  /** Sum of the digests of these records, modulo 2^64. */
  readonly digest: bigint;
}

/** Joining may leave up to half as many more runs. Bounds a cursor to about 40 kB. */
const RUNS_MAX = 1000;

export const LAST_ID = Number.MAX_SAFE_INTEGER;
const DIGEST_BYTES = 8;

export interface Comparison<Row> {
  /** The records to return, in their order. */
  give: Row[];
  runs: Run[];
  /** The place up to which all records have been compared. */
  reached: Place;
}

/**
 * Compares the records after `after` and up to `upTo` with the runs of what was returned before. `rows` are all records
 * that exist there, in their order. Returns at most `room` records.
 */
export function compareRecords<Row extends ScannedRecord>(
  given: readonly Run[],
  rows: readonly Row[],
  { after, upTo, room }: { after: Place; upTo: Place; room: number },
): Comparison<Row> {
  let next = given.findIndex(({ end }) => comparePlaces(end, after) > 0);
  if (next < 0) next = given.length;
  const runs = given.slice(0, next);
  const give: Row[] = [];
  const stop = (reached: Place): Comparison<Row> => ({
    give,
    runs: [...runs, ...cutStart(given.slice(next), reached)],
    reached,
  });
  let reached = after;
  let broken: Run | null = null;
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Row;
    // Skips runs before this record: their records are gone, or have a later time now.
    while (next < given.length && comparePlaces((given[next] as Run).end, row) < 0) next++;
    const found = given[next];
    const run = found && comparePlaces(found.start, row) <= 0 ? found : null;
    if (run) {
      const group = sumRun(rows, at, run);
      if (comparePlaces(run.end, upTo) <= 0) {
        if (group.count === run.count && group.digest === run.digest) {
          runs.push(run);
          next++;
          at += group.count;
          reached = rows[at - 1] as Row;
          continue;
        }
        // The digest differs. So do those of the run's next records, which are compared with the rest of the run.
      } else if (at === 0 || run.count === 0) broken = run;
      // The next page reads the whole run. A run that is longer than a page is returned again.
      else if (run !== broken) return stop(reached);
    }
    if (give.length === room) return stop(reached);
    give.push(row);
    runs.push(toRun(row));
    reached = row;
    at++;
    if (run && next < given.length && comparePlaces(run.end, row) <= 0) next++;
  }
  while (next < given.length && comparePlaces((given[next] as Run).end, upTo) <= 0) next++;
  return stop(upTo);
}

/** Count and sum of digests of the records from index `from` to the end of the run. */
function sumRun(rows: readonly ScannedRecord[], from: number, run: Run): { count: number; digest: bigint } {
  let digest = 0n;
  let at = from;
  for (; at < rows.length && comparePlaces(rows[at] as Place, run.end) <= 0; at++)
    digest += (rows[at] as ScannedRecord).digest;
  return { count: at - from, digest: BigInt.asUintN(64, digest) };
}

/** The runs that remain after `reached`. The rest of a run that was cut gets the count 0, so that it equals nothing. */
function cutStart(rest: readonly Run[], reached: Place): readonly Run[] {
  const [first, ...others] = rest;
  if (first === undefined || comparePlaces(first.start, reached) > 0) return rest;
  const start = { second: reached.second, id: reached.id + 1 };
  return [{ ...first, start, count: 0 }, ...others];
}

/**
 * Adds records that are returned without a comparison, in any order. If a record has a run of its own already, it was
 * read before with other content: a record can change twice within a second. Only the new content counts.
 */
export function addRecords(given: readonly Run[], rows: readonly ScannedRecord[]): Run[] {
  const added = [...rows].sort(comparePlaces);
  const runs: Run[] = [];
  let next = 0;
  for (const row of added) {
    while (next < given.length && comparePlaces((given[next] as Run).end, row) < 0)
      runs.push(given[next++] as Run);
    const run = given[next];
    if (run?.count === 1 && comparePlaces(run.end, row) === 0) given = given.with(next, toRun(row));
    else if (run && comparePlaces(run.start, row) <= 0) {
      const joined = { ...run, count: run.count + 1, digest: BigInt.asUintN(64, run.digest + row.digest) };
      given = given.with(next, joined);
    } else runs.push(toRun(row));
  }
  return [...runs, ...given.slice(next)];
}

function toRun({ second, id, digest }: ScannedRecord): Run {
  const place = { second, id };
  return { start: place, end: place, count: 1, digest };
}

/**
 * Joins neighbouring runs until there are few enough. A run stays within one second, or has all records of its seconds,
 * so that it can be read as a whole, by id or by time. No run crosses `border`, the place that a scan has reached.
 */
export function limitRuns(runs: readonly Run[], border: Place | null, runsMax = RUNS_MAX): Run[] {
  if (runs.length <= runsMax) return [...runs];
  const wanted = Math.ceil(countRecords(runs) / (runsMax / 2));
  const mayJoin = (one: Run, other: Run) =>
    one.count + other.count <= wanted && (border === null || !isBetween(border, one, other));
  const within = joinNeighbours(
    runs,
    (one, other) => one.start.second === other.end.second && mayJoin(one, other),
  );
  if (within.length <= runsMax) return within;
  // The seconds that several runs share. A run that is joined to one of these would not have all records of its
  // seconds.
  const shared = new Set<number>();
  within.forEach(({ end }, at) => {
    if (within[at + 1]?.start.second === end.second) shared.add(end.second);
  });
  return joinNeighbours(
    within,
    (one, other) => !shared.has(one.end.second) && !shared.has(other.start.second) && mayJoin(one, other),
  );
}

function joinNeighbours(runs: readonly Run[], mayJoin: (one: Run, other: Run) => boolean): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (last !== undefined && mayJoin(last, run)) joined[joined.length - 1] = join(last, run);
    else joined.push(run);
  }
  return joined;
}

function isBetween(border: Place, before: Run, after: Run): boolean {
  return comparePlaces(before.end, border) <= 0 && comparePlaces(after.start, border) > 0;
}

function join(first: Run, second: Run): Run {
  return {
    start: first.start,
    end: second.end,
    count: first.count + second.count,
    digest: BigInt.asUintN(64, first.digest + second.digest),
  };
}

export function countRecords(runs: readonly Run[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** The second at which a scan must begin so that it reads no run in part: the given one, or an earlier one. */
export function findScanStart(runs: readonly Run[], second: number): number {
  const cut = runs.find(({ start, end }) => start.second < second && end.second >= second);
  return cut?.start.second ?? second;
}

/** The runs that end after a place. */
export function dropRuns(runs: readonly Run[], before: Place): Run[] {
  return runs.filter(({ end }) => comparePlaces(end, before) > 0);
}

export function comparePlaces(one: Place, other: Place): number {
  return one.second - other.second || one.id - other.id;
}

/** Base64 of integers of variable length. Each second is stored as the difference to the one before. */
export function encodeRuns(runs: readonly Run[]): string {
  const bytes: number[] = [];
  let second = 0;
  const digest = Buffer.alloc(DIGEST_BYTES);
  for (const run of runs) {
    writeInteger(bytes, run.start.second - second);
    writeInteger(bytes, run.start.id);
    writeInteger(bytes, run.count);
    if (run.count !== 1) {
      writeInteger(bytes, run.end.second - run.start.second);
      writeInteger(bytes, run.end.id);
    }
    digest.writeBigUInt64BE(run.digest);
    bytes.push(...digest);
    second = run.end.second;
  }
  return Buffer.from(bytes).toString('base64');
}

/** Throws a RangeError if the text was not made by {@link encodeRuns}. */
export function decodeRuns(text: string): Run[] {
  const bytes = Buffer.from(text, 'base64');
  const runs: Run[] = [];
  let at = 0;
  const read = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  for (let second = 0; at < bytes.length; ) {
    const start = { second: second + read(), id: read() };
    const count = read();
    const end = count === 1 ? start : { second: start.second + read(), id: read() };
    runs.push({ start, end, count, digest: bytes.readBigUInt64BE(at) });
    at += DIGEST_BYTES;
    second = end.second;
  }
  return runs;
}

function writeInteger(bytes: number[], value: number): void {
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  bytes.push(left);
}

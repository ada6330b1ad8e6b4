/**
 * The ids that a caller has, as ranges with a digest each, so that deleted records can be found without a list of ids.
 * The ranges begin after id 0, and each begins where the one before ends. If the ids of a range have another digest
 * than before, some are gone: the gaps between the ids that exist name them, together with ids that never existed.
 * Pure.
 */

export interface IdRange {
  /** The last id that belongs to the range, whether a record has it or not. */
  readonly to: number;
  /** Sum of the digests of the ids; null: not known, so that it equals nothing. */
  readonly digest: number | null;
}

/** No record that matches has an id from `from` to `to`, both included. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

export interface ComparedIds {
  readonly ranges: readonly IdRange[];
  readonly gaps: readonly Gap[];
  /** The id up to which the ids were compared. The next comparison continues after it. */
  readonly reached: number;
}

/** Number of ids in a new range. */
const RANGE_IDS = 1000;
/** With more ranges, neighbours are joined. A range has some ten bytes in a cursor. */
const RANGES_MAX = 2000;
const DIGEST_BYTES = 4;

/** Adds ids above the last range, in ascending order, which the caller gets now. */
export function addIds(ranges: readonly IdRange[], ids: readonly number[], salt: number): readonly IdRange[] {
  const last = ids.at(-1);
  return last === undefined ? ranges : limitRanges([...ranges, { to: last, digest: sumDigests(ids, salt) }]);
}

/**
 * Compares the ids that exist after `after` up to `upTo`, ascending, with the ranges. `after` must be 0 or the
 * `reached` of the last comparison. Finds `room` gaps at most.
 */
export function compareIds(
  given: readonly IdRange[],
  ids: readonly number[],
  { after, upTo, room, salt }: { after: number; upTo: number; room: number; salt: number },
): ComparedIds {
  const before = given.filter(({ to }) => to <= after);
  const later = given.filter(({ to }) => to > after);
  const compared: IdRange[] = [];
  const gaps: Gap[] = [];
  let reached = after;
  let at = 0;
  while (reached < upTo) {
    const known = later[0];
    // A range that ends after the page is the first one of the next page.
    if (known !== undefined && known.to > upTo && compared.length > 0) break;
    const to = Math.min(known?.to ?? ids[at + RANGE_IDS - 1] ?? upTo, upTo);
    const start = at;
    while (at < ids.length && (ids[at] as number) <= to) at++;
    const own = ids.slice(start, at);
    const digest = sumDigests(own, salt);
    const isSame = known?.to === to && known.digest === digest;
    const found = isSame ? [] : listGaps(own, reached, to);
    const left = room - gaps.length;
    gaps.push(...found.slice(0, left));
    if (found.length > left) {
      // The rest of the range is compared next time.
      reached = left === 0 ? reached : (found[left - 1] as Gap).to;
      if (left > 0)
        compared.push({
          to: reached,
          digest: sumDigests(
            own.filter((id) => id <= reached),
            salt,
          ),
        });
      break;
    }
    compared.push({ to, digest });
    reached = to;
    if (known?.to === to) later.shift();
  }
  // The rest of a range that was cut has another digest.
  const [cut, ...rest] = later;
  const following =
    cut !== undefined && reached > startOf(given, cut) ? [{ ...cut, digest: null }, ...rest] : later;
  return { ranges: limitRanges([...before, ...compared, ...following]), gaps, reached };
}

function startOf(ranges: readonly IdRange[], range: IdRange): number {
  return ranges[ranges.indexOf(range) - 1]?.to ?? 0;
}

function listGaps(ids: readonly number[], after: number, upTo: number): Gap[] {
  const gaps: Gap[] = [];
  let from = after + 1;
  for (const id of [...ids, upTo + 1]) {
    if (id > from) gaps.push({ from, to: id - 1 });
    from = id + 1;
  }
  return gaps;
}

function limitRanges(ranges: readonly IdRange[]): readonly IdRange[] {
  if (ranges.length <= RANGES_MAX) return ranges;
  const joined: IdRange[] = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const [one, other] = [ranges[at] as IdRange, ranges[at + 1]];
    joined.push(other === undefined ? one : { to: other.to, digest: add(one.digest, other.digest) });
  }
  return limitRanges(joined);
}

function add(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : (one + other) >>> 0;
}

function sumDigests(ids: readonly number[], salt: number): number {
  return ids.reduce((sum, id) => (sum + mix(id, salt)) >>> 0, 0);
}

/** A well-mixed number of 32 bits (the finalizer of MurmurHash3, twice), which is the same for the same id and salt. */
function mix(id: number, salt: number): number {
  return finalize(finalize((id % 2 ** 32) ^ salt) ^ Math.floor(id / 2 ** 32));
}

function finalize(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Base64 of the digest of each range after the length of the range, an integer of variable length. */
export function encodeRanges(ranges: readonly IdRange[]): string {
  const bytes: number[] = [];
  let from = 0;
  for (const { to, digest } of ranges) {
    let left = (to - from) * 2 + (digest === null ? 0 : 1);
    for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
    bytes.push(left);
    if (digest !== null) bytes.push(digest >>> 24, (digest >>> 16) & 255, (digest >>> 8) & 255, digest & 255);
    from = to;
  }
  return Buffer.from(bytes).toString('base64');
}

/** Throws a RangeError if the text was not made by {@link encodeRanges}. */
export function decodeRanges(text: string): IdRange[] {
  const bytes = Buffer.from(text, 'base64');
  const ranges: IdRange[] = [];
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    let value = 0;
    for (let factor = 1, byte = 128; byte >= 128; factor *= 128) {
      byte = bytes.readUInt8(at++);
      value += (byte & 127) * factor;
    }
    to += Math.floor(value / 2);
    if (value % 2 === 0) ranges.push({ to, digest: null });
    else {
      ranges.push({ to, digest: bytes.readUInt32BE(at) });
      at += DIGEST_BYTES;
    }
  }
  return ranges;
}

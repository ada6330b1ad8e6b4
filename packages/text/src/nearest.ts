/**
 * Finds the known names that a misspelt or guessed one may stand for, in any list of names. A name is near if it
 * differs by few letters in relation to its length, or if it shares a word (docs/decisions/0027-nearest-names.md).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createEditDistance, type MeasureEdits } from './edit-distance.ts';

export interface NearestOptions<Name extends string> {
  /** Called only for names that would be part of the result. */
  accepts?: (candidate: Name) => boolean;
  /** Other texts for a known name, such as its label. */
  listOtherTexts?: (candidate: Name) => readonly string[];
}

/**
 * Returns the nearest name, or, if none is near, the one with the fewest edits. For short lists, such as the members of
 * an object. `known` must not be empty. The first of equally similar names is returned.
 */
export function findNearestName<Name extends string>(name: string, known: readonly Name[]): Name {
  return findNearestNames(name, known, 1)[0] ?? findClosestName(name, known);
}

/**
 * Returns up to `max` near names, the most similar one first; an empty list if no name is near. Equally similar names
 * keep their order. Very long names are never near. The time grows with the length of `known`: for long lists use
 * {@link findNearestOfMany}.
 */
export function findNearestNames<Name extends string>(
  name: string,
  known: readonly Name[],
  max: number,
  { accepts = () => true, listOtherTexts = () => [] }: NearestOptions<Name> = {},
): Name[] {
  const wanted = readWanted(name);
  const best: { candidate: Name; difference: number }[] = [];
  for (const candidate of known) {
    const limit = best.length < max ? Number.POSITIVE_INFINITY : best[max - 1]!.difference;
    const texts = [candidate, ...listOtherTexts(candidate)];
    const difference = Math.min(...texts.map((text) => measureDifference(wanted, text, limit)));
    if (difference >= limit || !accepts(candidate)) continue;
    const position = best.findLastIndex((other) => other.difference <= difference) + 1;
    best.splice(position, 0, { candidate, difference });
    if (best.length > max) best.pop();
  }
  return best.map(({ candidate }) => candidate);
}

/**
 * Number of names that are compared before other work gets its turn. With all their texts, this takes a few
 * milliseconds.
 */
const SLICE = 100;

/** Like {@link findNearestNames}, for lists of any length: other work runs in between. */
export async function findNearestOfMany<Name extends string>(
  name: string,
  known: readonly Name[],
  max: number,
  options?: NearestOptions<Name>,
): Promise<Name[]> {
  let nearest: Name[] = [];
  for (let start = 0; start < known.length; start += SLICE) {
    if (start > 0) await nextTurn();
    // The best names so far come first, so that equally similar ones keep their order.
    nearest = findNearestNames(name, [...nearest, ...known.slice(start, start + SLICE)], max, options);
  }
  return nearest;
}

/** Longer names are cut: the time grows with the length, and a name may come from a hostile caller. */
const NAME_LENGTH_MAX = 64;
const CANDIDATE_LENGTH_MAX = 256;
/** One edit is allowed for this many letters. At least one is always allowed. */
const LETTERS_PER_EDIT = 3;
/** Shorter words are too common to be compared. */
const WORD_LENGTH_MIN = 3;
const PREFIX_LENGTH_MIN = 4;
/** Minimum length of a common prefix, as a share of the longer word. */
const PREFIX_SHARE_MIN = 0.6;
/** The difference of names that have the same letters and digits: `street_2` and `street2`. */
const SEPARATORS_DIFFERENCE = 0.5;
const SEPARATORS = /[^\p{L}\p{N}]+/u;
/** Words that occur in so many names that sharing one means nothing. */
const COMMON_WORDS: ReadonlySet<string> = new Set(['has', 'ids', 'res', 'count', 'studio']);

interface Wanted {
  text: string;
  joined: string;
  words: readonly string[];
  /** The beginnings of its significant words. A text that contains none of them shares no word. */
  starts: readonly string[];
  measureEdits: MeasureEdits;
  /** Maximum number of edits. */
  editsMax: number;
}

function readWanted(name: string): Wanted {
  const text = name.slice(0, NAME_LENGTH_MAX).toLowerCase();
  const words = splitWords(text);
  const telling = words.filter(isTelling);
  const starts = telling.map((word) => word.slice(0, WORD_LENGTH_MIN));
  const letters = telling.join('').length;
  const editsMax = Math.max(1, Math.floor(letters / LETTERS_PER_EDIT));
  return { text, joined: words.join(''), words, starts, measureEdits: createEditDistance(text), editsMax };
}

function splitWords(text: string): string[] {
  return text.split(SEPARATORS).filter(Boolean);
}

function isTelling(word: string): boolean {
  return word.length >= WORD_LENGTH_MIN && !COMMON_WORDS.has(word);
}

/**
 * The number of letters by which a text differs, or a number from `limit` on if it is at least `limit`; infinity if the
 * text is not near.
 */
function measureDifference(wanted: Wanted, candidate: string, limit: number): number {
  const { text, joined, measureEdits, editsMax } = wanted;
  if (candidate.length > CANDIDATE_LENGTH_MAX) return Number.POSITIVE_INFINITY;
  const other = candidate.toLowerCase();
  if (other === text) return 0;
  if (other.length >= joined.length && joined !== '' && splitWords(other).join('') === joined)
    return SEPARATORS_DIFFERENCE;
  const edits = measureEdits(other, Math.min(limit, editsMax + 1));
  return Math.min(edits <= editsMax ? edits : Number.POSITIVE_INFINITY, compareWords(wanted, other));
}

/** Number of letters that only one of the two names has; infinity if they share no word. */
function compareWords({ words, starts }: Wanted, other: string): number {
  if (!starts.some((start) => other.includes(start))) return Number.POSITIVE_INFINITY;
  const rest = splitWords(other);
  let isNear = false;
  let letters = 0;
  for (const word of words) {
    const index = findSimilarWord(word, rest);
    if (index === -1) {
      letters += word.length;
      continue;
    }
    const [similar = ''] = rest.splice(index, 1);
    isNear ||= isTelling(word) && isTelling(similar);
    letters += word.length + similar.length - 2 * countSharedLetters(word, similar);
  }
  return isNear ? letters + rest.join('').length : Number.POSITIVE_INFINITY;
}

/** Index of the same word, or else of one with a common prefix, such as `categ` and `category`; -1 if there is none. */
function findSimilarWord(word: string, others: readonly string[]): number {
  const same = others.indexOf(word);
  if (same !== -1 || word.length < PREFIX_LENGTH_MIN) return same;
  return others.findIndex((other) => {
    const shared = countSharedLetters(word, other);
    return shared >= PREFIX_LENGTH_MIN && shared >= PREFIX_SHARE_MIN * Math.max(word.length, other.length);
  });
}

/** Length of the common prefix. */
function countSharedLetters(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  let length = 0;
  while (length < end && left[length] === right[length]) length++;
  return length;
}

function findClosestName<Name extends string>(name: string, known: readonly Name[]): Name {
  const { measureEdits } = readWanted(name);
  let closest = known[0]!;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = measureEdits(candidate.slice(0, CANDIDATE_LENGTH_MAX).toLowerCase(), least);
    if (distance >= least) continue;
    closest = candidate;
    least = distance;
  }
  return closest;
}

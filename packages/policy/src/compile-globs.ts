/** Finds which of many patterns with `*` matches a text, without a comparison of the text with each of them. */
import { compileGlob } from '@erp-proxy/contract';

class Glob {
  readonly pattern: string;
  /** The position of the pattern in the list of all patterns. */
  readonly index: number;
  /** Compiled for the first text: most patterns of an index are never compared. */
  #match: ((text: string) => boolean) | null = null;

  constructor(pattern: string, index: number) {
    this.pattern = pattern;
    this.index = index;
  }

  isMatch(text: string): boolean {
    this.#match ??= compileGlob(this.pattern);
    return this.#match(text);
  }
}

/** Up to this number, comparing all patterns is faster than an index. */
const COMPARED_MAX = 32;
/** Characters in a row by which patterns are listed. */
const KEY_LENGTH = 3;
/**
 * Names are shorter. For a longer text, a look-up for each character takes longer than comparing it with all patterns.
 */
const INDEXED_LENGTH_MAX = 1000;

/** Returns a function that finds the first pattern that matches a text. */
export function compileGlobs(patterns: readonly string[]): (text: string) => string | undefined {
  const globs = patterns.map((pattern, index) => new Glob(pattern, index));
  // The index is made for the first text, because a policy that is parsed may never be used.
  let index: GlobIndex | null = null;
  return (text) => {
    if (globs.length <= COMPARED_MAX || text.length > INDEXED_LENGTH_MAX)
      return findFirst(globs, text)?.pattern;
    index ??= new GlobIndex(globs);
    return index.find(text)?.pattern;
  };
}

/** Lists each pattern under a few successive characters that every matching text contains. */
class GlobIndex {
  readonly #byKey = new Map<number, Glob[]>();
  /** Patterns without enough successive characters. */
  readonly #others: Glob[] = [];

  constructor(globs: readonly Glob[]) {
    for (const glob of globs) this.#add(glob);
  }

  /** The first pattern that matches the text. */
  find(text: string): Glob | undefined {
    // A set, because a text can contain the same characters several times.
    const lists = new Set([this.#others]);
    for (let at = 0; at + KEY_LENGTH <= text.length; at++) {
      const list = this.#byKey.get(readKey(text, at));
      if (list !== undefined) lists.add(list);
    }
    let first: Glob | undefined;
    for (const list of lists) {
      const found = findFirst(list, text);
      if (found !== undefined && (first === undefined || found.index < first.index)) first = found;
    }
    return first;
  }

  /** Adds a pattern to the shortest list it can be in: characters that many patterns share exclude few patterns. */
  #add(glob: Glob): void {
    const { pattern } = glob;
    let best: number | null = null;
    let size = Number.POSITIVE_INFINITY;
    let wildcard = pattern.indexOf('*');
    for (let at = 0; at + KEY_LENGTH <= pattern.length && size > 0; at++) {
      if (wildcard >= 0 && wildcard < at) wildcard = pattern.indexOf('*', at);
      if (wildcard >= 0 && wildcard < at + KEY_LENGTH) continue;
      const key = readKey(pattern, at);
      const listed = this.#byKey.get(key)?.length ?? 0;
      if (listed >= size) continue;
      best = key;
      size = listed;
    }
    if (best === null) this.#others.push(glob);
    else if (size === 0) this.#byKey.set(best, [glob]);
    else this.#byKey.get(best)!.push(glob);
  }
}

function findFirst(globs: readonly Glob[], text: string): Glob | undefined {
  return globs.find((glob) => glob.isMatch(text));
}

/**
 * A number for the characters at this position. Different characters can have the same number, which costs a
 * comparison.
 */
function readKey(text: string, at: number): number {
  return (text.charCodeAt(at) << 14) ^ (text.charCodeAt(at + 1) << 7) ^ text.charCodeAt(at + 2);
}

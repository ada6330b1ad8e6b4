/** Finds which of many patterns with `*` matches a text, without a comparison of the text with each of them. */
import { compileGlob } from '@erp-proxy/contract';

interface Glob {
  readonly pattern: string;
  /** Its place among all patterns. */
  readonly index: number;
  isMatch(text: string): boolean;
}

/** Fewer patterns are compared faster than found in an index. */
const COMPARED_MAX = 32;
/** Characters in a row by which patterns are listed. */
const KEY_LENGTH = 3;
/** Names are shorter. Callers can send any text, and a look-up for each character takes longer than comparisons. */
const INDEXED_LENGTH_MAX = 1000;

/** Returns a function that finds the first pattern that matches a text. */
export function compileGlobs(patterns: readonly string[]): (text: string) => string | undefined {
  const globs = patterns.map((pattern, index) => ({ pattern, index, isMatch: compileGlob(pattern) }));
  // Made for the first text, because a policy that is read need not be used.
  let index: GlobIndex | null = null;
  return (text) => {
    if (globs.length <= COMPARED_MAX || text.length > INDEXED_LENGTH_MAX)
      return findFirst(globs, text)?.pattern;
    index ??= new GlobIndex(globs);
    return index.find(text)?.pattern;
  };
}

/** Lists each pattern by characters that every text that it matches contains. */
class GlobIndex {
  readonly #byKey = new Map<number, Glob[]>();
  /** Patterns that have too few characters in a row. */
  readonly #others: Glob[] = [];

  constructor(globs: readonly Glob[]) {
    for (const glob of globs) this.#add(glob);
  }

  /** The first that matches. */
  find(text: string): Glob | undefined {
    // Each list once, also if the text repeats its characters.
    const lists = new Set([this.#others]);
    for (const key of listKeys(text)) {
      const list = this.#byKey.get(key);
      if (list !== undefined) lists.add(list);
    }
    let first: Glob | undefined;
    for (const list of lists) {
      const found = findFirst(list, text);
      if (found !== undefined && (first === undefined || found.index < first.index)) first = found;
    }
    return first;
  }

  /** Adds it to the shortest of its lists: characters that many patterns share tell little. */
  #add(glob: Glob): void {
    const keys = glob.pattern.split('*').flatMap(listKeys);
    const [first] = keys;
    if (first === undefined) {
      this.#others.push(glob);
      return;
    }
    const sizeOf = (key: number) => this.#byKey.get(key)?.length ?? 0;
    const best = keys.reduce((one, other) => (sizeOf(other) < sizeOf(one) ? other : one), first);
    this.#byKey.set(best, [...(this.#byKey.get(best) ?? []), glob]);
  }
}

function findFirst(globs: readonly Glob[], text: string): Glob | undefined {
  return globs.find(({ isMatch }) => isMatch(text));
}

/** Numbers for all characters in a row. Different ones can have the same number, which costs a comparison. */
function listKeys(text: string): number[] {
  const keys: number[] = [];
  for (let at = 0; at + KEY_LENGTH <= text.length; at++) {
    keys.push((text.charCodeAt(at) << 14) ^ (text.charCodeAt(at + 1) << 7) ^ text.charCodeAt(at + 2));
  }
  return keys;
}

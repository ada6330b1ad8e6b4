/**
 * Patterns in which `*` stands for any text. All other characters match themselves. A match takes one pass over the
 * text, without backtracking.
 */

/** Several patterns, any of which may match. */
export interface Patterns {
  /** The first pattern that matches, those without `*` before all others; undefined if none does. */
  find(text: string): string | undefined;
  /** True if one of them is this exact text. */
  has(text: string): boolean;
}

export function compilePatterns(patterns: readonly string[]): Patterns {
  const literals = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => ({ pattern, isMatch: compileGlob(pattern) }));
  return {
    find: (text) => (literals.has(text) ? text : globs.find(({ isMatch }) => isMatch(text))?.pattern),
    has: (text) => literals.has(text),
  };
}

/** Compiles one pattern, with or without `*`. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    // The first occurrence of a part leaves the most text for the parts after it: no other need be tried.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** The error of a pattern for texts that match `allowed`, which `rule` describes; null if there is none. */
export function findPatternError(text: string, allowed: RegExp, rule: string): string | null {
  if (/[?![\]{}]|\*\*/.test(text)) return '`*` is the only wildcard, and stands for any text';
  return allowed.test(text) ? null : `can never match: what it stands for has ${rule}`;
}

/**
 * Patterns in which `*` stands for any text, and nothing else for anything but itself. A match takes one pass over the text:
 * no pattern makes it go back.
 */

/** Several patterns, of which any may match. */
export interface Patterns {
  /** The first that matches, one without `*` before all others; undefined where none does. */
  find(text: string): string | undefined;
  /** True where this very text is one of them. */
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

/** Of one pattern, with or without `*`. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    // A part that is taken where it first stands leaves the most to those behind it: no other place need be tried.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

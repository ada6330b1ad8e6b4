/**
 * Patterns of policies and settings: `*` stands for any text, and all other characters match themselves. A match takes
 * one pass over the text, without backtracking.
 */

/** Compiles one pattern, with or without `*`. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    // Takes the first occurrence of each part, which leaves the most text for the parts after it. No other need be
    // tried.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Lists of patterns in which `*` stands for any text, and the errors of such patterns. */
import { compileGlobs } from './compile-globs.ts';

/** A list of patterns, any of which may match. */
export interface Patterns {
  /** The first pattern that matches, patterns without `*` before all others; undefined if no pattern does. */
  find(text: string): string | undefined;
  /** True if one of the patterns is this exact text. */
  has(text: string): boolean;
}

export function compilePatterns(patterns: readonly string[]): Patterns {
  const literals = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const findGlob = compileGlobs(patterns.filter((pattern) => pattern.includes('*')));
  return {
    find: (text) => (literals.has(text) ? text : findGlob(text)),
    has: (text) => literals.has(text),
  };
}

/** The error of a pattern for texts that match `allowed`, which `rule` describes; null if there is none. */
export function findPatternError(text: string, allowed: RegExp, rule: string): string | null {
  if (/[?![\]{}]|\*\*/.test(text)) return '`*` is the only wildcard, and stands for any text';
  return allowed.test(text) ? null : `can never match: what it stands for has ${rule}`;
}

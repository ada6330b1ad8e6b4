/**
 * The instances that an operator is limited to. Decides by names and patterns alone, and denies what it cannot decide.
 * Pure.
 */
import { compileGlob } from './glob.ts';

/** Characters of the name of an instance, with `*` for any text. */
const PATTERN = /^[A-Za-z0-9._*-]{1,64}$/;
const PATTERNS_MAX = 50;
const NAME = /^[\w.-]+$/;

export const PATTERNS_RULE = `must be a list of 1 to ${PATTERNS_MAX} names of instances, in which "*" stands for any text, such as ["client-a-*"]`;

/** True for a list of patterns that an operator can be limited to. */
export function arePatterns(given: unknown): given is string[] {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= PATTERNS_MAX &&
    given.every((pattern) => typeof pattern === 'string' && PATTERN.test(pattern))
  );
}

/** What an operator may see and change. */
export interface Reach {
  /** True for the name of an instance in reach, stored or not. False for an address of a server. */
  has(instance: string | null): boolean;
  /** True if all instances with these names and patterns are in reach. False for null, which is the whole proxy. */
  covers(patterns: readonly string[] | null): boolean;
  /** The patterns, for messages. */
  readonly text: string;
}

export function createReach(patterns: readonly string[]): Reach {
  const globs = patterns.map(compileGlob);
  // Parts between the wildcards of a glob have no `*`. So a pattern that a glob matches as text has its own wildcards
  // where the glob has one, and all texts that it stands for match the glob.
  const includes = (text: string) => globs.some((matches) => matches(text));
  return {
    has: (instance) => instance !== null && NAME.test(instance) && includes(instance),
    covers: (others) => others !== null && others.length > 0 && others.every(includes),
    text: patterns.join(', '),
  };
}

/** The patterns that both lists cover. Patterns that overlap only in part are left out. Null: all instances. */
export function intersectPatterns(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  const [inOne, inOther] = [createReach(one), createReach(other)];
  return [
    ...one.filter((pattern) => inOther.covers([pattern])),
    ...other.filter((pattern) => inOne.covers([pattern]) && !one.includes(pattern)),
  ];
}

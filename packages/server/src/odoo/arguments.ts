/** The arguments of a call as its caller gave them: some by position, some by name, all as spans. Knows no method. */
import type { JsonMember, JsonSpan } from '../json/span.ts';

/** More than any method takes that is known here; a body can hold millions. */
export const POSITIONAL_MAX = 16;

export interface Arguments {
  /** What the spans point into. */
  bytes: Uint8Array;
  /** The first of them, at most POSITIONAL_MAX. */
  positional: readonly JsonSpan[];
  named: readonly JsonMember[];
}

/** The values of one argument, wherever they stand (`position` null: it is always named): Odoo refuses it twice, but nobody here relies on that. */
export function findArgument(
  { positional, named }: Arguments,
  position: number | null,
  name: string,
): JsonSpan[] {
  const placed = position === null ? undefined : positional[position];
  const values = named.filter((member) => member.name === name).map(({ value }) => value);
  return placed === undefined ? values : [placed, ...values];
}

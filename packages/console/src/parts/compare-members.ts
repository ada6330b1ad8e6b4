/** Compares versions of an object, member by member. Pure. */

export interface MemberDifference {
  member: string;
  theirs: unknown;
  mine: unknown;
}

/**
 * The members that somebody else has changed since `base` was read, with their value and mine. Members that are equal
 * in both are left out.
 */
export function compareMembers<Members extends object>(
  base: Members,
  theirs: Members,
  mine: Partial<Members>,
): MemberDifference[] {
  const names = Object.keys(theirs) as (keyof Members & string)[];
  return names
    .filter((name) => !isSame(base[name], theirs[name]))
    .map((name) => ({ member: name, theirs: theirs[name], mine: name in mine ? mine[name] : base[name] }))
    .filter(({ theirs, mine }) => !isSame(theirs, mine));
}

/** The members of `draft` that differ from `base`: what a change has to send. */
export function pickChanges<Draft extends object>(base: object, draft: Draft): Partial<Draft> {
  const known = base as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => value !== undefined && !isSame(known[name], value)),
  ) as Partial<Draft>;
}

/** Whether two values of JSON are the same. The order of members does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  return printSorted(one) === printSorted(other);
}

function printSorted(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

/** Compares versions of an object, member by member. Pure. */

export interface MemberDifference {
  member: string;
  theirs: unknown;
  mine: unknown;
}

/** The members that both sides have changed since `base` was read, to different values. */
export function compareMembers<Members extends object>(
  base: Members,
  theirs: Members,
  mine: Members,
): MemberDifference[] {
  const names = Object.keys(theirs) as (keyof Members & string)[];
  return names
    .filter((name) => !isSame(base[name], theirs[name]) && !isSame(base[name], mine[name]))
    .map((name) => ({ member: name, theirs: theirs[name], mine: mine[name] }))
    .filter(({ theirs, mine }) => !isSame(theirs, mine));
}

/** The members of `draft` that differ from `base`, which are those that a change must send. */
export function pickChanges<Draft extends object>(base: object, draft: Draft): Partial<Draft> {
  const known = base as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => value !== undefined && !isSame(known[name], value)),
  ) as Partial<Draft>;
}

/** True if two JSON values are equal. The order of members does not matter. */
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

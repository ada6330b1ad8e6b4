/** Finds the known names that are most similar to a misspelt one, in any list of names. */

/** `known` must not be empty. The first of equally similar names is returned. */
export function findNearestName<Name extends string>(name: string, known: readonly Name[]): Name {
  return findNearestNames(name, known, 1)[0]!;
}

/**
 * Up to `max` known names that `accepts` accepts, the most similar one first. Equally similar names keep their order.
 * `accepts` is asked only about names that would be among the result. Very long names are never near. The cost grows
 * with the length of `known`, so the caller bounds it.
 */
export function findNearestNames<Name extends string>(
  name: string,
  known: readonly Name[],
  max: number,
  accepts: (candidate: Name) => boolean = () => true,
): Name[] {
  // The cost is the product of the lengths, and a name may come from a hostile caller.
  const wanted = name.slice(0, NAME_LENGTH_MAX).toLowerCase();
  const best: { candidate: Name; distance: number }[] = [];
  for (const candidate of known) {
    if (candidate.length > CANDIDATE_LENGTH_MAX) continue;
    const limit = best.length < max ? Number.POSITIVE_INFINITY : best[max - 1]!.distance;
    const distance = measureDistance(wanted, candidate.toLowerCase(), limit);
    if (distance >= limit || !accepts(candidate)) continue;
    const position = best.findLastIndex((other) => other.distance <= distance) + 1;
    best.splice(position, 0, { candidate, distance });
    if (best.length > max) best.pop();
  }
  return best.map(({ candidate }) => candidate);
}

const NAME_LENGTH_MAX = 64;
const CANDIDATE_LENGTH_MAX = 256;

/**
 * Edit distance in which two swapped letters count as one edit (optimal string alignment). If it is at least `limit`,
 * the result is any number from `limit` on. Rows of numbers, because a list of names is compared at once.
 */
function measureDistance(left: string, right: string, limit: number): number {
  const lengths = Math.abs(left.length - right.length);
  if (lengths >= limit) return lengths;
  const width = right.length + 1;
  let beforePrevious = new Int32Array(width);
  let previous = new Int32Array(width);
  let current = new Int32Array(width);
  for (let j = 0; j < width; j++) previous[j] = j;
  let letterBefore = -1;
  for (let i = 1; i <= left.length; i++) {
    const letter = left.charCodeAt(i - 1);
    let least = i;
    let distance = i;
    let otherBefore = -1;
    current[0] = i;
    for (let j = 1; j < width; j++) {
      const other = right.charCodeAt(j - 1);
      const edited = Math.min(previous[j]!, distance) + 1;
      distance = previous[j - 1]! + (letter === other ? 0 : 1);
      if (edited < distance) distance = edited;
      if (letter === otherBefore && letterBefore === other) {
        const swapped = beforePrevious[j - 2]! + 1;
        if (swapped < distance) distance = swapped;
      }
      current[j] = distance;
      if (distance < least) least = distance;
      otherBefore = other;
    }
    // No later row has a smaller number.
    if (least >= limit) return least;
    letterBefore = letter;
    [beforePrevious, previous, current] = [previous, current, beforePrevious];
  }
  return previous[right.length]!;
}

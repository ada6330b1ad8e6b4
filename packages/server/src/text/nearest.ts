/** Finds the known name that is most similar to a misspelt one, in any list of names. */

/** `known` must not be empty. The first of equally similar names is returned. */
export function findNearestName<Name extends string>(name: string, known: readonly Name[]): Name {
  // The cost is the product of the lengths, and a name may come from a hostile caller.
  const wanted = name.slice(0, NAME_LENGTH_MAX).toLowerCase();
  return known
    .map((candidate) => ({ candidate, distance: measureDistance(wanted, candidate.toLowerCase()) }))
    .reduce((best, next) => (next.distance < best.distance ? next : best)).candidate;
}

const NAME_LENGTH_MAX = 64;

/** Edit distance in which two swapped letters count as one edit (optimal string alignment). */
function measureDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1];
      const isSwapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      current[j] = Math.min(
        previous[j]! + 1,
        current[j - 1]! + 1,
        previous[j - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforePrevious[j - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length]!;
}

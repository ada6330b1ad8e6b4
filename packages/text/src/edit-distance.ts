/**
 * Edit distance in which two swapped letters count as one edit (optimal string alignment), by bits: Heikki Hyyrö, "A
 * Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances", 2003. The algorithm fills the usual
 * table; an integer holds the differences between 32 rows of a column. The names of variables are those of the paper.
 * Pure.
 */

/**
 * Returns the number of edits from the prepared text to `other`, or, if that is at least `limit`, any number from
 * `limit` on.
 */
export type MeasureEdits = (other: string, limit: number) => number;

const BITS = 32;

/** Prepares a text for comparisons with many others. */
export function createEditDistance(text: string): MeasureEdits {
  const { length } = text;
  const blocks = Math.ceil(length / BITS);
  const matches = findPositions(text, blocks);
  const none = new Int32Array(blocks);
  const vp = new Int32Array(blocks);
  const vn = new Int32Array(blocks);
  const d0 = new Int32Array(blocks);
  const lastRow = 1 << ((length - 1) % BITS);

  return (other, limit) => {
    const difference = Math.abs(length - other.length);
    if (difference >= limit || length === 0) return difference;
    vp.fill(-1);
    vn.fill(0);
    d0.fill(0);
    let before: Int32Array = none;
    let distance = length;
    for (let column = 0; column < other.length; column++) {
      const pm = matches.get(other.charCodeAt(column)) ?? none;
      // Bits that a block passes to the next one. The row above the first block grows by one in each column.
      let hpCarry = 1;
      let hnCarry = 0;
      let swapCarry = 0;
      for (let block = 0; block < blocks; block++) {
        const [match, above, below] = [pm[block]!, vp[block]!, vn[block]!];
        const swappable = ~d0[block]! & match;
        const swapped = ((swappable << 1) | swapCarry) & before[block]!;
        swapCarry = swappable >>> (BITS - 1);
        const start = match | hnCarry;
        const zero = (((start & above) + above) ^ above) | start | below | swapped;
        const hp = below | ~(zero | above);
        const hn = zero & above;
        if (block === blocks - 1) {
          if ((hp & lastRow) !== 0) distance++;
          else if ((hn & lastRow) !== 0) distance--;
        }
        const right = (hp << 1) | hpCarry;
        const left = (hn << 1) | hnCarry;
        hpCarry = hp >>> (BITS - 1);
        hnCarry = hn >>> (BITS - 1);
        vp[block] = left | ~(zero | right);
        vn[block] = zero & right;
        d0[block] = zero;
      }
      before = pm;
      // Each remaining letter can lower the distance by one.
      const least = distance - (other.length - column - 1);
      if (least >= limit) return least;
    }
    return distance;
  };
}

/** The positions of each letter in the text, as bits. */
function findPositions(text: string, blocks: number): ReadonlyMap<number, Int32Array> {
  const positions = new Map<number, Int32Array>();
  for (let index = 0; index < text.length; index++) {
    const letter = text.charCodeAt(index);
    const bits = positions.get(letter) ?? new Int32Array(blocks);
    bits[Math.floor(index / BITS)]! |= 1 << (index % BITS);
    positions.set(letter, bits);
  }
  return positions;
}

/** Compares two texts line by line, for changes of policies and other values. Pure. */

export interface ComparedLine {
  change: 'same' | 'removed' | 'added';
  text: string;
}

/** Beyond this many pairs of lines, all old lines count as removed and all new ones as added. */
const PAIRS_MAX = 1_000_000;

interface Line {
  text: string;
  /** The part of the line that is compared. */
  key: string;
}

export function compareTexts(from: string, to: string): ComparedLine[] {
  const old = splitLines(from);
  const now = splitLines(to);
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start]?.key === now[start]?.key) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end)?.key === now.at(-1 - end)?.key) end++;
  return [
    ...mark('same', now.slice(0, start)),
    ...compareLines(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...mark('same', now.slice(now.length - end)),
  ];
}

/** Splits a JSON text into lines. A comma at the end is not compared, because it depends on the next line. */
function splitLines(text: string): Line[] {
  return text.split('\n').map((line) => ({ text: line, key: line.endsWith(',') ? line.slice(0, -1) : line }));
}

/** Compares lines by their longest common subsequence. */
function compareLines(old: readonly Line[], now: readonly Line[]): ComparedLine[] {
  if (old.length * now.length > PAIRS_MAX) return [...mark('removed', old), ...mark('added', now)];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row]?.key === now[column]?.key
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length && column < now.length) {
    if (old[row]?.key === now[column]?.key) {
      lines.push(...mark('same', now.slice(column, column + 1)));
      row++;
      column++;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      lines.push(...mark('removed', old.slice(row, ++row)));
    } else {
      lines.push(...mark('added', now.slice(column, ++column)));
    }
  }
  return [...lines, ...mark('removed', old.slice(row)), ...mark('added', now.slice(column))];
}

function mark(change: ComparedLine['change'], lines: readonly Line[]): ComparedLine[] {
  return lines.map(({ text }) => ({ change, text }));
}

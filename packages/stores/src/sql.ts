/** Parts of statements for all engines. */

/** Collects the parameters of a statement: `place` adds a value and returns its placeholder. */
export function createParameters(...first: unknown[]) {
  const values = first;
  return { values, place: (value: unknown) => `$${values.push(value)}` };
}

/** The rows of a `VALUES` list, with a cast to the type of each column. */
export function placeRows(
  place: (value: unknown) => string,
  types: readonly ('text' | 'bigint')[],
  rows: readonly (readonly unknown[])[],
): string {
  return rows
    .map((row) => `(${row.map((value, index) => `CAST(${place(value)} AS ${types[index]})`).join(', ')})`)
    .join(', ');
}

/**
 * Splits rows for several statements. A statement can have some ten thousand parameters, and takes longer to prepare
 * with each.
 */
export function splitRows<Row>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  for (let start = 0; start < rows.length; start += ROWS_MAX) parts.push(rows.slice(start, start + ROWS_MAX));
  return parts;
}

const ROWS_MAX = 200;

/** PostgreSQL stores every character in a text except NUL. A search for a text with NUL therefore finds nothing. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}

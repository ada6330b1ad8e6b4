/** Parts of SQL that several statements share. */

/** Collects the parameters of a statement: `place` adds a value and returns its placeholder. */
export function createParameters(...first: unknown[]) {
  const values = first;
  return { values, place: (value: unknown) => `$${values.push(value)}` };
}

/** Condition: one of the columns contains the text. Ignores the case of ASCII letters, as the collation "C" does. */
export function contains(columns: readonly string[], parameter: string): string {
  const inColumn = columns.map(
    (column) => `strpos(lower(${column} COLLATE "C"), lower(${parameter} COLLATE "C")) > 0`,
  );
  return `(${inColumn.join(' OR ')})`;
}

/** PostgreSQL stores every character in a text except NUL. A search for a text with NUL therefore finds nothing. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}

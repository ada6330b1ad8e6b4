/** Small parts of SQL that several statements share. */

/** Values of a statement that is put together: `place` takes one in and gives what stands for it in the text. */
export function createParameters(...first: unknown[]) {
  const values = first;
  return { values, place: (value: unknown) => `$${values.push(value)}` };
}

/** True where one of the columns has this text in it, in any case of ASCII, which is what "C" knows. */
export function contains(columns: readonly string[], parameter: string): string {
  const inColumn = columns.map(
    (column) => `strpos(lower(${column} COLLATE "C"), lower(${parameter} COLLATE "C")) > 0`,
  );
  return `(${inColumn.join(' OR ')})`;
}

/** PostgreSQL refuses this one character in a text: who looks for a text with it looks for what is not there. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}

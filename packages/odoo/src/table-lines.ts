/** Reads the lines of the tables that scripts write: a name, and words about it. Pure. */

/** The lines of a table. `words`: what stands after the name of a line. */
export function readTableLines(table: string): { name: string; words: string[] }[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', ...words] = line.split(' ');
      return { name, words };
    });
}

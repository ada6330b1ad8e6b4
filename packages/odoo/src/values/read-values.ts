/** The forms of Odoo's values that a read converts, by the types of fields (docs/values.md#reading). */

export interface ReadForm {
  /** Matches a whole value where it begins. */
  readonly pattern: RegExp;
  /** Prints the value that was found. */
  readonly print: (found: RegExpExecArray) => string;
}

/** The source of a pattern for a string of JSON. */
export const STRING = String.raw`"[^"\\]*(?:\\[^][^"\\]*)*"`;
const INTEGER = String.raw`-?(?:0|[1-9]\d*)`;

export const READ_FORMS: ReadonlyMap<string, ReadForm> = new Map([
  [
    'many2one',
    {
      pattern: new RegExp(String.raw`\[\s*(${INTEGER})\s*,\s*(?:(${STRING})|false|null)\s*\]`, 'y'),
      print: (found) => `{"id": ${found[1]}, "name": ${found[2] ?? 'null'}}`,
    },
  ],
  [
    'reference',
    {
      pattern: new RegExp(`"([\\w.]+),(${INTEGER})"`, 'y'),
      print: (found) => `{"model": "${found[1]}", "id": ${found[2]}}`,
    },
  ],
  [
    'datetime',
    {
      pattern: /"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)"/y,
      print: (found) => `"${found[1]}T${found[2]}Z"`,
    },
  ],
] satisfies [string, ReadForm][]);

/**
 * Parses the tables of the seed data: a line of column names, then one line for each row, with cells separated by `|`.
 * A cell is parsed if it is JSON (number, true, list), omitted if it is empty, and text otherwise.
 */
import type { Json } from '../json/value.ts';
import type { Row } from '../orm/row.ts';

export function readTable(table: string): Row[] {
  const [head = [], ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return lines.map((cells) =>
    Object.fromEntries(head.flatMap((name, index) => (cells[index] ? [[name, readCell(cells[index])]] : []))),
  );
}

function readCell(cell: string): Json {
  return /^(-?\d+(\.\d+)?|true|false|\[.*\])$/.test(cell) ? (JSON.parse(cell) as Json) : cell;
}

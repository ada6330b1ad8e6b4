/**
 * Reads the tables of the seed: a line of column names, then a line a row, cells parted by `|`. A cell that is JSON
 * (number, true, list) is that value, an empty one is left out, anything else is text.
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

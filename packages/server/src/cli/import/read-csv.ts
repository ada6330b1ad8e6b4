/** Reads CSV (RFC 4180) with its lines. Commas separate cells, or semicolons, as spreadsheets write them. */
import type { LineError } from '../apply/document.ts';

export interface CsvRow {
  /** The line on which the row begins. */
  line: number;
  cells: string[];
}

/** Empty lines are left out. */
export function readCsv(text: string): { rows: CsvRow[] } | { errors: LineError[] } {
  const content = text.replace(/^\uFEFF/, '');
  const [head = ''] = content.split(/\r?\n/, 1);
  const separator = head.includes(',') ? ',' : ';';
  const rows: CsvRow[] = [];
  let row: CsvRow = { line: 1, cells: [] };
  let [line, at] = [1, 0];
  while (at < content.length) {
    const cell = readCell(content, at, separator);
    if (cell === null)
      return { errors: [{ line, message: 'a quote is not closed, or text follows a closed one' }] };
    row.cells.push(cell.value);
    line += cell.value.split('\n').length - 1;
    at = cell.end;
    if (content[at] === separator) {
      at++;
      if (at < content.length) continue;
      row.cells.push('');
    } else at += content[at] === '\r' ? 2 : 1;
    if (row.cells.some((each) => each !== '')) rows.push(row);
    row = { line: ++line, cells: [] };
  }
  return { rows };
}

/** The cell that begins there; null if its quotes are wrong. `end`: the position of what ends it. */
function readCell(text: string, start: number, separator: string): { value: string; end: number } | null {
  if (text[start] !== '"') {
    let end = start;
    while (end < text.length && text[end] !== separator && !isLineEnd(text, end)) end++;
    return { value: text.slice(start, end).trim(), end };
  }
  let value = '';
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return null;
    value += text.slice(from, quote);
    const end = quote + 1;
    if (text[end] !== '"') {
      const isEnd = end === text.length || text[end] === separator || isLineEnd(text, end);
      return isEnd ? { value, end } : null;
    }
    value += '"';
    from = end + 1;
  }
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === '\n' || (text[at] === '\r' && text[at + 1] === '\n');
}

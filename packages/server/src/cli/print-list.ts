/**
 * Prints a list of any length: JSON for programs, a table with headings on a terminal, or tab-separated lines into a
 * pipe or a file. Waits for the reader, so that the output does not accumulate in memory.
 */
import type { CommandInput } from './command.ts';

export interface Column<Item> {
  heading: string;
  /** The value of the column. Empty text and null are printed as `-`. */
  show(item: Item): string | number | null;
}

type ListInput = Pick<CommandInput, 'print' | 'complain' | 'untilTaken' | 'isTerminal' | 'isSet'>;

/**
 * Prints a list. If it is empty, `emptyText` goes to standard error, where programs that read the output do not see it.
 * Returns the exit status.
 */
export async function printList<Item>(
  input: ListInput,
  items: AsyncIterable<Item>,
  columns: readonly Column<Item>[],
  emptyText: string,
): Promise<0> {
  if (input.isSet('json')) return printJsonList(input, items);
  const rows = mapRows(items, columns);
  const isEmpty = await (input.isTerminal ? printTable(input, rows, columns) : printLines(input, rows));
  if (isEmpty) input.complain(`${emptyText}\n`);
  return 0;
}

/** Prints texts as they arrive. */
export async function printEach(
  { print, untilTaken }: Pick<ListInput, 'print' | 'untilTaken'>,
  texts: AsyncIterable<string>,
): Promise<void> {
  for await (const text of texts) {
    print(text);
    await untilTaken();
  }
}

/** Prints one JSON array, item by item, because all of them may not fit in memory. */
async function printJsonList(input: ListInput, items: AsyncIterable<unknown>): Promise<0> {
  let separator = '[';
  for await (const item of items) {
    input.print(separator + JSON.stringify(item));
    await input.untilTaken();
    separator = ',\n';
  }
  input.print(separator === '[' ? '[]\n' : ']\n');
  return 0;
}

type Row = readonly string[];

async function* mapRows<Item>(
  items: AsyncIterable<Item>,
  columns: readonly Column<Item>[],
): AsyncGenerator<Row> {
  for await (const item of items) yield columns.map(({ show }) => showCell(show(item)));
}

/** Makes a text one line, without control sequences for a terminal. */
export function showLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** Prints a value as one cell: a tab or a line break would split the column or the line. */
function showCell(value: string | number | null): string {
  const text = showLine(String(value ?? ''));
  return text === '' ? '-' : text;
}

async function printLines(input: ListInput, rows: AsyncIterable<Row>): Promise<boolean> {
  let isEmpty = true;
  for await (const row of rows) {
    isEmpty = false;
    input.print(`${row.join('\t')}\n`);
    await input.untilTaken();
  }
  return isEmpty;
}

/** The first rows determine the widths of the columns: a longer list does not stay in memory. */
const MEASURED_ROWS = 500;

async function printTable(
  input: ListInput,
  rows: AsyncIterable<Row>,
  columns: readonly Column<never>[],
): Promise<boolean> {
  const headings = columns.map(({ heading }) => heading);
  let measured: Row[] | null = [];
  let widths: number[] = [];
  const printRow = (row: Row) => input.print(`${padCells(row, widths)}\n`);
  const printMeasured = (all: Row[]) => {
    widths = headings.map((heading, at) =>
      Math.max(...[heading, ...all.map((row) => row[at] ?? '')].map(measure)),
    );
    for (const row of [headings, ...all]) printRow(row);
  };
  for await (const row of rows) {
    if (measured === null) {
      printRow(row);
    } else if (measured.push(row) === MEASURED_ROWS) {
      printMeasured(measured);
      measured = null;
    }
    await input.untilTaken();
  }
  if (measured === null) return false;
  if (measured.length > 0) printMeasured(measured);
  return measured.length === 0;
}

function padCells(row: Row, widths: readonly number[]): string {
  return row
    .map((cell, at) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(cell))))
    .join('  ')
    .trimEnd();
}

/** Counts code points: a good estimate of the columns that a terminal uses. */
function measure(text: string): number {
  return [...text].length;
}

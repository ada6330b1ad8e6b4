/** The figures of a run as a file, to compare a later run with. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describeCommit, describeMachine, type Machine } from './machine.ts';
import type { Figure, Table } from './scenario.ts';

export interface SavedRun extends Machine {
  date: string;
  commit: string;
  isQuick: boolean;
  figures: SavedFigure[];
}

export interface SavedFigure extends Figure {
  /** Title of the table, then row and column. */
  name: string;
}

export function collectRun(tables: readonly Table[], isQuick: boolean): SavedRun {
  return {
    date: new Date().toISOString(),
    commit: describeCommit(),
    ...describeMachine(),
    isQuick,
    figures: tables.flatMap(listFigures),
  };
}

export function writeRun(file: string, run: SavedRun): void {
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`);
}

export function readRun(file: string): SavedRun {
  const run = JSON.parse(readFileSync(file, 'utf8')) as SavedRun;
  if (!Array.isArray(run.figures)) throw new Error(`${file} has no figures; --save did not write it.`);
  return run;
}

/** The cells of a table that are figures. Texts are not measured, or not meant to be compared. */
export function listFigures({ title, columns, rows }: Table): SavedFigure[] {
  return rows.flatMap(([label, ...cells]) =>
    cells.flatMap((cell, index) =>
      typeof cell === 'string' || cell.rounds.length === 0
        ? []
        : [{ name: `${title}: ${String(label)}, ${columns[index + 1]}`, ...cell }],
    ),
  );
}

/**
 * Reads and writes kept-figures.json: the CPU time of servers that few machines have installed, as multiples of the
 * floor. A full run on a machine that has all of them updates the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('./kept-figures.json', import.meta.url);

export interface KeptFigures {
  date: string;
  machine: string;
  node: string;
  /** What was different from a full run of today; a sentence for the page. */
  remark?: string;
  /** By subject, then by the size of the answer and the upstream's connections, for example `small keep`. */
  ofFloor: Record<string, Record<string, number>>;
}

export function readKeptFigures(): KeptFigures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as KeptFigures;
}

export function writeKeptFigures(figures: KeptFigures): void {
  writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);
}

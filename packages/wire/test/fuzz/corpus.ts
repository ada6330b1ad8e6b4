/** The inputs of a target in the repository: one in each line, as JSON of its bytes in Latin-1. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = join(import.meta.dirname, '../../..');

/** A target: its name, and that of its package's folder. */
type Named = { name: string; folder: string };

export function readCorpus(target: Named): Buffer[] {
  const file = findFile(target);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.filter((line) => line !== '').map((line) => Buffer.from(JSON.parse(line), 'latin1'));
}

/** A longer input is found again by those that it was made of, and would be most of the repository. */
const KEPT_BYTES_MAX = 1024;

/** Replaces all inputs. */
export function writeCorpus(target: Named, inputs: readonly Buffer[]): void {
  const kept = inputs.filter(({ length }) => length <= KEPT_BYTES_MAX);
  writeFileSync(findFile(target), kept.map(printInput).toSorted().join(''));
}

export function addToCorpus(target: Named, input: Buffer): void {
  appendFileSync(findFile(target), printInput(input));
}

function findFile({ name, folder }: Named): string {
  return join(PACKAGES, folder, 'test/corpus', `${name}.txt`);
}

/** Printable characters only, so that tools show a change as text. */
function printInput(input: Buffer): string {
  const text = JSON.stringify(input.toString('latin1'));
  return `${text.replace(/[\x7f-\xff]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}\n`;
}

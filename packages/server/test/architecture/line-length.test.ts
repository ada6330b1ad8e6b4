/** Prose in pages and comments of sources has lines of at most 120 columns. Code blocks and tables may be wider. */
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const COLUMNS_MAX = 120;
/** A link can be longer than a line. */
const LINK_ONLY = /^\W*\[[^\]]*\]\([^)]*\)\W*$/;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;

test('pages', () => {
  const pages = findFiles('{README,CONTRIBUTING,ARCHITECTURE,SECURITY,CHANGELOG,docs/**/*}.md');
  expect(pages.flatMap((page) => listLongLines(page, createProseFilter()))).toEqual([]);
});

test('comments of sources', () => {
  const sources = findFiles('{packages/*/src,scripts,bench,chaos}/**/*.ts');
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.flatMap((file) => listLongLines(file, (line) => COMMENT.test(line)))).toEqual([]);
});

function listLongLines(file: string, isChecked: (line: string) => boolean): string[] {
  return readText(file)
    .split('\n')
    .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
    .filter(({ line }) => isChecked(line) && [...line].length > COLUMNS_MAX && !LINK_ONLY.test(line))
    .map(({ line, place }) => `${place}: ${line}`);
}

/** Tells of each line of a page, from the first to the last, whether it is neither code nor a table. */
function createProseFilter(): (line: string) => boolean {
  let isCode = false;
  return (line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return !isCode && !isFence && !line.startsWith('|');
  };
}

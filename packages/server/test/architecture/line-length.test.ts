/**
 * Prose in pages and comments of sources has lines of at most 120 columns. Code blocks and tables may be wider. No line
 * of a paragraph begins with the marker of a list item, which some renderers take for one.
 */
import { extname } from 'node:path';
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const COLUMNS_MAX = 120;
/** A link can be longer than a line. */
const LINK_ONLY = /^\W*\[[^\]]*\]\([^)]*\)\W*$/;
const LIST_ITEM = /^\s*(?:\d+[.)]|[-+*])\s/;
const SLASH_COMMENT = /^\s*(?:\/\/|\/?\*)/;
const HASH_COMMENT = /^\s*#/;
/** Comments by the ending of the file. A file without an ending is a script or has the syntax of one. */
const COMMENTS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(['.ts', '.tsx', '.mjs', '.css', '.php'].map((ending) => [ending, SLASH_COMMENT])),
  ...Object.fromEntries(
    ['.py', '.sh', '.yaml', '.yml', '.conf', '.service', ''].map((ending) => [ending, HASH_COMMENT]),
  ),
};

const pages = findFiles('**/*.md').map((file) => ({ file, lines: readProse(file) }));

test('pages', () => {
  expect(pages.length).toBeGreaterThan(80);
  expect(pages.flatMap(({ file, lines }) => listLongLines(file, lines))).toEqual([]);
});

test('paragraphs of pages', () => {
  const broken = pages.flatMap(({ file, lines }) =>
    lines
      .filter(({ text }, index) => LIST_ITEM.test(text) && isInParagraph(lines.slice(0, index)))
      .map((line) => show(file, line)),
  );
  expect(broken).toEqual([]);
});

test('comments of sources', () => {
  const sources = findFiles('**/*').filter((file) => extname(file) in COMMENTS);
  expect(sources.length).toBeGreaterThan(1500);
  const long = sources.flatMap((file) => {
    const comment = COMMENTS[extname(file)];
    return listLongLines(
      file,
      readLines(file).filter(({ text }) => comment?.test(text)),
    );
  });
  expect(long).toEqual([]);
});

interface Line {
  text: string;
  number: number;
}

function readLines(file: string): Line[] {
  return readText(file)
    .split('\n')
    .map((text, index) => ({ text, number: index + 1 }));
}

/** True if the next line continues a paragraph: the text after the last empty line is not a list. */
function isInParagraph(before: readonly Line[]): boolean {
  const block = before.slice(before.findLastIndex(({ text }) => text.trim() === '') + 1);
  return block.length > 0 && !block.some(({ text }) => LIST_ITEM.test(text));
}

/** The lines of a page that are neither code nor tables, with the empty lines around these. */
function readProse(file: string): Line[] {
  let isCode = false;
  return readLines(file).filter(({ text }) => {
    const isFence = /^\s*```/.test(text);
    if (isFence) isCode = !isCode;
    return !isCode && !isFence && !text.startsWith('|');
  });
}

function listLongLines(file: string, lines: readonly Line[]): string[] {
  return lines
    .filter(({ text }) => [...text].length > COLUMNS_MAX && !LINK_ONLY.test(text))
    .map((line) => show(file, line));
}

function show(file: string, { text, number }: Line): string {
  return `${file}:${number}: ${text}`;
}

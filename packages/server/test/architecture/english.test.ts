/**
 * Holds pages and comments to the rules of CONTRIBUTING.md, section "Writing", that a program can check: length of lines
 * and sentences, openings of sentences, and phrases that need a second reading.
 */
import { describe, expect, test } from 'vitest';
import {
  countWords,
  listCommentSentences,
  listHashCommentSentences,
  listPageSentences,
  listProseLines,
  type Sentence,
} from './prose.ts';
import { findFiles, readText } from './repository-files.ts';

const LINE_COLUMNS_MAX = 120;

const SENTENCE_WORDS_MAX = 40;

const OPENINGS = [
  { name: 'begins with "Of"', pattern: /^Of / },
  { name: 'begins with "So many"', pattern: /^So (?:many|much) / },
  { name: 'begins with "Who"', pattern: /^Who [^?]*$/ },
  { name: 'begins with "Where …,"', pattern: /^Where [^?]*,[^?]*$/ },
];

const PHRASES = [
  'which it is remembered',
  'as of when',
  'gives nobody',
  'is told of',
  'of theirs',
  'of its own accord',
  'whoever',
  'for who ',
];

describe('pages', () => {
  const pages = findFiles('{README,CONTRIBUTING,ARCHITECTURE,SECURITY,CHANGELOG,docs/**/*}.md');

  test('have prose lines of at most 120 columns', () => {
    expect(pages.flatMap((page) => listLongLines(readText(page)).map((line) => `${page}:${line}`))).toEqual([]);
  });

  test('are written in short, plain sentences', () => {
    expect(
      pages.flatMap((page) => listFindings(page, [...listPageSentences(readText(page))], SENTENCE_WORDS_MAX)),
    ).toEqual([]);
  });
});

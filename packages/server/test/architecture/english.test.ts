/**
 * Checks pages and comments against the rules of CONTRIBUTING.md, section "Writing", that a program can check: the length
 * of lines and sentences, how sentences begin, and phrases that need a second reading.
 */
import { describe, expect, test } from 'vitest';
import {
  countWords,
  type Line,
  listCommentLines,
  listCommentSentences,
  listHashCommentSentences,
  listPageSentences,
  listProseLines,
  type Sentence,
} from './prose.ts';
import { findFiles, readText } from './repository-files.ts';

const LINE_COLUMNS_MAX = 120;

const SENTENCE_WORDS_MAX = 40;

const OPENINGS: [name: string, pattern: RegExp][] = [
  ['begins with "Of"', /^Of /],
  ['begins with "So many"', /^So (?:many|much) /],
  ['begins with "Who"', /^Who (?!.*\?$)/],
  ['begins with "Where …,"', /^Where (?!.*\?$).*,/],
];

const PHRASES = [
  'answers nobody',
  'as of when',
  'asks after',
  'for who',
  'given to nobody',
  'gives nobody',
  'is told of',
  'of theirs',
  'there whole',
  'which it is remembered',
  'whoever',
];

/** A link can be longer than a line. */
const LINK_ONLY = /^\W*\[[^\]]*\]\([^)]*\)\W*$/;

const pages = findFiles('{README,CONTRIBUTING,ARCHITECTURE,SECURITY,CHANGELOG,docs/**/*}.md');

describe('pages', () => {
  test(`have lines of prose of at most ${LINE_COLUMNS_MAX} columns`, () => {
    expect(pages.flatMap((page) => listLongLines(page, listProseLines(readText(page))))).toEqual([]);
  });

  test('have short, plain sentences', () => {
    expect(pages.flatMap((page) => listFindings(page, listPageSentences(readText(page))))).toEqual([]);
  });
});

describe('comments of sources', () => {
  const sources = findFiles('{packages/*/src,scripts,bench,chaos}/**/*.ts');

  test(`have lines of at most ${LINE_COLUMNS_MAX} columns`, () => {
    expect(sources.flatMap((file) => listLongLines(file, listCommentLines(readText(file))))).toEqual([]);
  });

  test('have short, plain sentences', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.flatMap((file) => listFindings(file, listCommentSentences(readText(file))))).toEqual([]);
  });
});

test('the files of deploy/ have short, plain sentences in their comments', () => {
  const files = findFiles('deploy/{Dockerfile,**/*.yaml}');
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((file) => listFindings(file, listHashCommentSentences(readText(file))))).toEqual([]);
});

describe('the checks of this file', () => {
  test('find long lines of prose and comments, but not of tables, code and links', () => {
    const long = 'word '.repeat(30);
    const page = `${long}\n\n| ${long} |\n\n\`\`\`\n${long}\n\`\`\`\n- [${long}](x.md)\n- ${long}\n`;
    const numbers = listLongLines('a.md', listProseLines(page)).map((finding) => finding.split(':')[1]);
    expect(numbers).toEqual(['1', '9']);
    const source = `const x = '${long}';\n// ${long}\n/**\n * ${long}\n */\n`;
    expect(listLongLines('a.ts', listCommentLines(source))).toHaveLength(2);
  });

  test('find sentences by their beginning, in pages and comments', () => {
    const page = 'First.\n**Of these** one is\nkept. Who knows? Where is it, then?\n\n- Who asks gets it.\n';
    expect(listFindings('a.md', listPageSentences(page))).toEqual([
      'a.md:2: begins with "Of": Of these one is kept.',
      'a.md:5: begins with "Who": Who asks gets it.',
    ]);
    const source = `/**\n * Good. So many\n * calls. */\nconst x = 1; // Where it is, it stays.\n// Fine.\n// Of all.\n`;
    expect(listFindings('a.ts', listCommentSentences(source))).toEqual([
      'a.ts:2: begins with "So many": So many calls.',
      'a.ts:4: begins with "Where …,": Where it is, it stays.',
      'a.ts:6: begins with "Of": Of all.',
    ]);
    expect(listFindings('a.yaml', listHashCommentSentences('a: 1\n# Of this,\n# one.\n'))).toEqual([
      'a.yaml:2: begins with "Of": Of this, one.',
    ]);
  });

  test('find phrases and long sentences', () => {
    const page = `Give it to whoever asks.\n\n${'word '.repeat(41)}end.\n\n\`${'word '.repeat(41)}\`\n`;
    expect(listFindings('a.md', listPageSentences(page)).map((finding) => finding.slice(0, 30))).toEqual([
      'a.md:1: has "whoever": Give it',
      'a.md:3: has 42 words: word wor',
    ]);
  });
});

function listLongLines(file: string, lines: Line[]): string[] {
  return lines
    .filter(({ text }) => [...text].length > LINE_COLUMNS_MAX && !LINK_ONLY.test(text))
    .map(({ number, text }) => `${file}:${number}: has ${[...text].length} columns: ${text}`);
}

/** File, line, what is wrong, and the sentence. */
function listFindings(file: string, sentences: Sentence[]): string[] {
  return sentences.flatMap(({ line, text }) =>
    listFaults(text).map((fault) => `${file}:${line}: ${fault}: ${text}`),
  );
}

function listFaults(sentence: string): string[] {
  const openings = OPENINGS.filter(([, pattern]) => pattern.test(sentence)).map(([name]) => name);
  const phrases = PHRASES.filter((phrase) => new RegExp(`\\b${phrase}\\b`, 'i').test(sentence));
  const words = countWords(sentence);
  return [
    ...openings,
    ...phrases.map((phrase) => `has "${phrase}"`),
    ...(words > SENTENCE_WORDS_MAX ? [`has ${words} words`] : []),
  ];
}

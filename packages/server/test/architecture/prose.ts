/** Reads the prose of Markdown pages and of source comments as sentences with their lines. Does not judge them. */

export interface Sentence {
  /** 1 is the first line of the file. */
  line: number;
  text: string;
}

interface Line {
  number: number;
  text: string;
}

/** Paragraphs, list items and headings, without code blocks and tables. */
export function listPageSentences(markdown: string): Sentence[] {
  const lines = listProseLines(markdown).map(({ number, text }) => ({ number, text: stripMarkup(text) }));
  return listParagraphs(lines).flatMap(splitSentences);
}

/** The lines of a page that are wrapped: those of code blocks and tables are not. */
export function listProseLines(markdown: string): Line[] {
  let fence = '';
  const prose: Line[] = [];
  for (const line of numberLines(markdown)) {
    const [, mark = ''] = /^\s*(```+|~~~+)/.exec(line.text) ?? [];
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
      prose.push({ ...line, text: '' });
    } else if (mark !== '') {
      fence = mark;
      prose.push({ ...line, text: '' });
    } else prose.push(line.text.startsWith('|') ? { ...line, text: '' } : line);
  }
  return prose;
}

/** Comments of TypeScript: blocks, lines, and what follows code on its line. */
export function listCommentSentences(source: string): Sentence[] {
  let isInBlock = false;
  let isAfterLineComment = false;
  const comments: Line[] = [];
  for (const { number, text } of numberLines(source)) {
    let comment = '';
    const isLineComment = /^\s*\/\//.test(text);
    if (isInBlock || /^\s*\/\*/.test(text)) {
      isInBlock = !text.includes('*/');
      comment = text.replace(/^\s*(?:\/\*+|\*(?!\/))?/, '').replace(/\*\/.*$/, '');
    } else comment = /(?:^|\s)\/\/ (.*)$/.exec(text)?.[1] ?? '';
    // A comment after code begins anew, and so does one on the line below it.
    if (isLineComment !== isAfterLineComment) comments.push({ number, text: '' });
    isAfterLineComment = isLineComment;
    comments.push({ number, text: stripMarkup(comment.trim()) });
    if (comment !== '' && !isInBlock && !isLineComment) comments.push({ number, text: '' });
  }
  return listParagraphs(comments).flatMap(splitSentences);
}

/** Comments of YAML files, Dockerfiles and the like. */
export function listHashCommentSentences(source: string): Sentence[] {
  const comments = numberLines(source).map(({ number, text }) => ({
    number,
    text: /^\s*# ?(.*)$/.exec(text)?.[1] ?? '',
  }));
  return listParagraphs(comments).flatMap(splitSentences);
}

/** A code span counts as one word. */
export function countWords(sentence: string): number {
  return sentence
    .replaceAll(/`[^`]*`/g, 'code')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function numberLines(text: string): Line[] {
  return text.split('\n').map((line, index) => ({ number: index + 1, text: line }));
}

/** Leaves the words that a reader sees. Spaces in a code span become U+00A0, so that it is not split. */
function stripMarkup(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, (span) => span.replaceAll(/\s+/g, '\u00a0'))
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<a id="[^"]*"><\/a>/g, '')
    .replaceAll('**', '');
}

/** A blank line, a heading, a list item or a documentation tag begins a paragraph. */
function listParagraphs(lines: Line[]): Line[][] {
  const paragraphs: Line[][] = [];
  let isOpen = false;
  for (const line of lines) {
    const begins = /^\s*(?:#+|[-*]|\d+\.|@\w+) /.test(line.text);
    if (line.text.trim() === '') isOpen = false;
    else if (isOpen && !begins) paragraphs.at(-1)?.push(line);
    else {
      paragraphs.push([{ ...line, text: line.text.replace(/^\s*(?:#+|[-*]|\d+\.|@\w+) /, '') }]);
      isOpen = !/^\s*#+ /.test(line.text);
    }
  }
  return paragraphs;
}

const SENTENCE_END = /(?<=[.?!][)"'’”]*) (?=["'(“[`]*[\p{Lu}\p{N}`])/u;

function splitSentences(paragraph: Line[]): Sentence[] {
  const sentences: Sentence[] = [];
  const words = paragraph.flatMap(({ number, text }) =>
    text
      .trim()
      .split(/[ \t]+/)
      .map((word) => ({ number, word })),
  );
  const text = words.map(({ word }) => word).join(' ');
  let at = 0;
  for (const sentence of text.split(SENTENCE_END)) {
    sentences.push({ line: words[at]?.number ?? 0, text: sentence.replaceAll('\u00a0', ' ') });
    at += sentence.split(' ').length;
  }
  return sentences;
}

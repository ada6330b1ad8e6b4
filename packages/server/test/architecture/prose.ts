/** Reads Markdown pages and comments of sources as sentences with their lines. Does not judge them. */

export interface Sentence {
  /** 1 is the first line of the file. */
  line: number;
  text: string;
}

export interface Line {
  number: number;
  text: string;
}

interface PageLine extends Line {
  kind: 'code' | 'table' | 'prose';
}

/** Sentences of paragraphs, list items, headings and cells of tables. Code blocks are skipped. */
export function listPageSentences(markdown: string): Sentence[] {
  const lines = classifyLines(markdown).map((line) => ({ ...line, text: stripMarkup(line.text) }));
  const prose = lines.map((line) => (line.kind === 'prose' ? line : { ...line, text: '' }));
  return [...listParagraphs(prose), ...listCells(lines)].flatMap(splitSentences);
}

/** The lines of a page that editors wrap, without code blocks and tables. */
export function listProseLines(markdown: string): Line[] {
  return classifyLines(markdown).filter(({ kind }) => kind === 'prose');
}

/** Sentences of TypeScript comments: blocks, lines, and comments after code on its line. */
export function listCommentSentences(source: string): Sentence[] {
  let isInBlock = false;
  let wasLineComment = false;
  const comments: Line[] = [];
  for (const { number, text } of numberLines(source)) {
    const isLineComment = !isInBlock && /^\s*\/\//.test(text);
    const isBlock = isInBlock || /^\s*\/\*/.test(text);
    const comment = isBlock
      ? text.replace(/^\s*(?:\/\*+|\*(?!\/))?/, '').replace(/\*\/.*$/, '')
      : (/(?:^|\s)\/\/ (.*)$/.exec(text)?.[1] ?? '');
    if (isBlock) isInBlock = !text.includes('*/');
    // Only line comments continue on the next line.
    if (!(isBlock || (isLineComment && wasLineComment))) comments.push({ number, text: '' });
    comments.push({ number, text: stripMarkup(comment.trim()) });
    wasLineComment = isLineComment;
  }
  return listParagraphs(comments).flatMap(splitSentences);
}

/** The lines that are comments as a whole, without comments after code. */
export function listCommentLines(source: string): Line[] {
  return numberLines(source).filter(({ text }) => /^\s*(?:\/\/|\/?\*)/.test(text));
}

/** Sentences of the comments of YAML files, Dockerfiles and the like. */
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

function classifyLines(markdown: string): PageLine[] {
  let isCode = false;
  return numberLines(markdown).map((line) => {
    const isFence = /^\s*```/.test(line.text);
    if (isFence) isCode = !isCode;
    const kind = isCode || isFence ? 'code' : line.text.startsWith('|') ? 'table' : 'prose';
    return { ...line, kind };
  });
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
    const text = line.text.replace(/^\s*(?:#+|[-*]|\d+\.|@\w+) /, '');
    if (text.trim() === '') isOpen = false;
    else if (isOpen && text === line.text) paragraphs.at(-1)?.push(line);
    else {
      paragraphs.push([{ ...line, text }]);
      isOpen = !/^\s*#/.test(line.text);
    }
  }
  return paragraphs;
}

/** The cells of all tables, except those of tables with the column `before`, which show bad sentences. */
function listCells(lines: PageLine[]): Line[][] {
  let isExample = false;
  return lines.flatMap(({ kind, number, text }, index) => {
    if (kind !== 'table') return [];
    const cells = text.slice(1, text.lastIndexOf('|')).split(/(?<!\\)\|/);
    if (lines[index - 1]?.kind !== 'table') isExample = cells[0]?.trim() === 'before';
    return isExample ? [] : cells.map((cell) => [{ number, text: cell }]);
  });
}

const SENTENCE_END = /(?<=[.?!][)"'’”]*)(?<!\b(?:e\.g|i\.e|vs)\.) /;

function splitSentences(paragraph: Line[]): Sentence[] {
  const words = paragraph.flatMap(({ number, text }) =>
    text
      .trim()
      .split(/[ \t]+/)
      .map((word) => ({ number, word })),
  );
  let at = 0;
  return words
    .map(({ word }) => word)
    .join(' ')
    .split(SENTENCE_END)
    .map((sentence) => {
      const line = words[at]?.number ?? 0;
      at += sentence.split(' ').length;
      return { line, text: sentence.replaceAll('\u00a0', ' ') };
    });
}

/** Formats JSON text from others without changing its value. Pure. */

/** Characters that are invisible, or that change how others are shown. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Indents a JSON text. Its tokens stay as they are: numbers keep all digits, and members their order. Invisible
 * characters become escapes, which mean the same. For a text that is not JSON, the line breaks have no meaning.
 */
export function showJson(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"?|[[\]{},:]|[^\s"[\]{},:]+/gsu) ?? [];
  let shown = '';
  let depth = 0;
  const breakLine = () => `\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`;
  for (let place = 0; place < tokens.length; place++) {
    const token = tokens[place] ?? '';
    if (token === '[' || token === '{') {
      const line = printLine(tokens, place);
      if (line === null) {
        depth++;
        shown += token + breakLine();
      } else {
        shown += line.text;
        place = line.last;
      }
    } else if (token === ']' || token === '}') {
      depth = Math.max(0, depth - 1);
      shown += breakLine() + token;
    } else if (token === ',') shown += token + breakLine();
    else shown += printToken(token);
  }
  return shown;
}

const DEPTH_MAX = 40;
const LINE_TOKENS_MAX = 40;
const LINE_MAX = 72;

/** A short list or object without nested ones, on one line; null for others. */
function printLine(tokens: readonly string[], first: number): { text: string; last: number } | null {
  let text = tokens[first] ?? '';
  for (let place = first + 1; place < first + LINE_TOKENS_MAX && text.length < LINE_MAX; place++) {
    const token = tokens[place] ?? '[';
    if (token === '[' || token === '{') return null;
    if (token === ']' || token === '}') return { text: text + token, last: place };
    text += token === ',' ? ', ' : printToken(token);
  }
  return null;
}

function printToken(token: string): string {
  return token === ':' ? ': ' : revealInvisible(token);
}

export function revealInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Shows the text of a JSON value that others wrote, without changing the value. Pure. */

/** Characters that are not seen, or that change how others are seen. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Indents a JSON text. Its tokens stay as they are: numbers keep all digits, and members their order. Invisible
 * characters are shown as escapes, which stand for the same value. A text that is not JSON is returned on lines that
 * have no meaning.
 */
export function showJson(text: string): string {
  let shown = '';
  let depth = 0;
  const breakLine = () => `\n${'  '.repeat(Math.min(depth, 40))}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{},:]|[^\s"[\]{},:]+/gsu)) {
    if (token === '[' || token === '{') {
      depth++;
      shown += token + breakLine();
    } else if (token === ']' || token === '}') {
      depth = Math.max(0, depth - 1);
      shown = /[[{]\s*$/.test(shown.slice(-90)) ? shown.trimEnd() + token : shown + breakLine() + token;
    } else if (token === ',') shown += token + breakLine();
    else if (token === ':') shown += ': ';
    else shown += revealInvisible(token);
  }
  return shown;
}

export function revealInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

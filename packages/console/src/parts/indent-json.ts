/**
 * Indents a JSON text. All values stay as they are written: `1.0`, long integers and escapes. Lists and objects that
 * are short and have no others within them stay in one line.
 */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
const LINE_LENGTH_MAX = 76;

export function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  /** Position in `parts` of the bracket that was opened last; -1: it has another one within it, or has ended. */
  let opened = -1;
  let before = '';
  const breakLine = () => parts.push(`\n${'  '.repeat(depth)}`);
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '}' || token === ']') {
      depth--;
      if (before !== '{' && before !== '[') breakLine();
    } else if (before === '{' || before === '[') breakLine();
    if (token === '{' || token === '[') {
      opened = parts.length;
      depth++;
    }
    parts.push(token === ':' ? ': ' : token);
    if (token === ',') breakLine();
    if (token === '}' || token === ']') {
      if (opened !== -1) joinLine(parts, opened);
      opened = -1;
    }
    before = token;
  }
  return parts.join('');
}

/** Draws the parts from a position on into one line if they are short. */
function joinLine(parts: string[], from: number): void {
  let length = 0;
  for (let at = from; at < parts.length; at++) {
    const part = parts[at] ?? '';
    length += part.startsWith('\n') ? 1 : part.length;
    if (length > LINE_LENGTH_MAX) return;
  }
  const line = parts.splice(from).map((part, index, all) => {
    if (!part.startsWith('\n')) return part;
    return all[index - 1] === ',' ? ' ' : '';
  });
  parts.push(line.join(''));
}

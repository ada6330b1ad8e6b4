/** Indents a JSON text. All values stay as they are written: `1.0`, long integers and escapes. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

export function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let before = '';
  const breakLine = () => parts.push(`\n${'  '.repeat(depth)}`);
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '}' || token === ']') {
      depth--;
      if (before !== '{' && before !== '[') breakLine();
    } else if (before === '{' || before === '[') breakLine();
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth++;
    if (token === ',') breakLine();
    before = token;
  }
  return parts.join('');
}

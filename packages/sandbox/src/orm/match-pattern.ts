/** SQL LIKE: `%` matches any text, `_` one character; a backslash escapes the next character. */
export function matchPattern(
  pattern: string,
  options: { isWhole: boolean; ignoresCase: boolean },
): (text: string) => boolean {
  let source = '';
  for (let index = 0; index < pattern.length; index++) {
    const letter = pattern[index] as string;
    if (letter === '%') source += '.*';
    else if (letter === '_') source += '.';
    else source += RegExp.escape(letter === '\\' ? (pattern[++index] ?? '\\') : letter);
  }
  const expression = new RegExp(options.isWhole ? `^${source}$` : source, options.ignoresCase ? 'isu' : 'su');
  return (text) => expression.test(text);
}

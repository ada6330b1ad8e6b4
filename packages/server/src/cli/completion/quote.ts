/** Text as one word of a shell, in single quotes. */

export function quoteForSh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

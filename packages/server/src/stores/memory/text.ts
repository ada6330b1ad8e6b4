/** How the lasting stores compare texts, for those in memory. */

/** The order of UTF-8, which is that of code points; the one of JavaScript's strings is that of UTF-16. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function containsInAnyCase(texts: readonly string[], part: string): boolean {
  return texts.some((text) => text.toLowerCase().includes(part.toLowerCase()));
}

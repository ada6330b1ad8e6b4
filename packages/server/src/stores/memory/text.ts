/** Compares texts as the databases do. */

/** By code points, which is the order of UTF-8. JavaScript compares strings by UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function containsInAnyCase(texts: readonly string[], part: string): boolean {
  return texts.some((text) => text.toLowerCase().includes(part.toLowerCase()));
}

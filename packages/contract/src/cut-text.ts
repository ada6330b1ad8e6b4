/** Cuts texts for people and for messages. A character of two UTF-16 code units is left out whole, never half. */

/** The beginning of a text: at most `lengthMax` UTF-16 code units. */
export function cutText(text: string, lengthMax: number): string {
  const isInPair = isHigh(text.charCodeAt(lengthMax - 1)) && isLow(text.charCodeAt(lengthMax));
  return text.slice(0, isInPair ? lengthMax - 1 : lengthMax);
}

/** The same, with `…` behind a text that is longer. */
export function clipText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${cutText(text, lengthMax)}…` : text;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

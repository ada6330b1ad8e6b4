/** Cuts texts for people and for messages. Never cuts between the two code units of a character. */

/** The beginning of a text: at most `lengthMax` UTF-16 code units. */
export function cutText(text: string, lengthMax: number): string {
  const isInPair = isHigh(text.charCodeAt(lengthMax - 1)) && isLow(text.charCodeAt(lengthMax));
  return text.slice(0, isInPair ? lengthMax - 1 : lengthMax);
}

/** The beginning of a text, followed by `…` if the text is longer than `lengthMax`. */
export function clipText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${cutText(text, lengthMax)}…` : text;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

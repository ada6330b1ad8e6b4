/** Reads a number while it is being typed. Pure. */

/** Empty if the text is not a number yet. Stays a text if JavaScript's number would have other digits. */
export function readNumber(entered: number | string): number | string {
  const text = String(entered);
  const value = Number(text);
  if (text === '' || Number.isNaN(value)) return '';
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value;
}

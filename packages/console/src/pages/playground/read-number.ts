/** Reads numbers that are being typed. Pure. */

/** A text stays a text if it is no number yet (then it is empty), or if a number would change its digits. */
export function readNumber(entered: number | string): number | string {
  const text = String(entered);
  const value = Number(text);
  if (text === '' || Number.isNaN(value)) return '';
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value;
}

/** What a client key may be called, wherever its name is given. Pure. */

const LENGTH_MAX = 200;
/** Control and format characters, halves of characters, line ends: what makes one name look like another. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export const KEY_NAME_RULE = `1 to ${LENGTH_MAX} printable characters on one line`;

export function isKeyName(text: string): boolean {
  return text.trim() !== '' && text.length <= LENGTH_MAX && !UNPRINTABLE.test(text);
}

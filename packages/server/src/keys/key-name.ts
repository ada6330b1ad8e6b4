/** The rule for names of client keys. Pure. */

const LENGTH_MAX = 200;
/** Control and format characters, lone surrogates and line ends: they make one name look like another. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export const KEY_NAME_RULE = `1 to ${LENGTH_MAX} printable characters on one line`;

export function isKeyName(text: string): boolean {
  return text.trim() !== '' && text.length <= LENGTH_MAX && !UNPRINTABLE.test(text);
}

/** Which texts can be sent to PostgreSQL. */
import { Fault, valueError } from './fault.ts';

/** Python cannot encode half of a surrogate pair, and PostgreSQL stores no NUL. */
export function checkText(text: string): string {
  const half = /\p{Surrogate}/u.exec(text);
  if (half)
    throw new Fault(
      'builtins.UnicodeEncodeError',
      `utf-8\n${text}\n${half.index}\n${half.index + 1}\nsurrogates not allowed`,
    );
  if (text.includes('\0')) throw valueError('A string literal cannot contain NUL (0x00) characters.');
  return text;
}

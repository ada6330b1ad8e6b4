/** Prints options of commands. Pure. */
import { quote } from './print-request.ts';

/** E.g. ` --state active --gone`, each option after a space. Leaves out undefined and false values. */
export function printOptions(options: Record<string, string | number | boolean | undefined>): string {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => ` --${name}${value === true ? '' : ` ${quoteIfNeeded(String(value))}`}`)
    .join('');
}

/** Quotes a word for the shell, unless it needs no quotes. */
export function quoteIfNeeded(text: string): string {
  return /^[\w./:@,=-]+$/.test(text) ? text : quote(text);
}

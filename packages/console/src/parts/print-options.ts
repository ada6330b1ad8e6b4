/** Prints options of the commands. Pure. */
import { quote } from './print-request.ts';

/** E.g. ` --state active --gone`, each with a space before it. What is undefined or false is left out. */
export function printOptions(options: Record<string, string | number | boolean | undefined>): string {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => ` --${name}${value === true ? '' : ` ${quoteIfNeeded(String(value))}`}`)
    .join('');
}

/** A word of a shell that needs no quotes stays as it is. */
export function quoteIfNeeded(text: string): string {
  return /^[\w./:@,=-]+$/.test(text) ? text : quote(text);
}

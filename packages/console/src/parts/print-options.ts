/** Prints options of the commands. Pure. */
import { NO_VALUE, nameOption, type OptionRules } from '@erp-proxy/contract';
import { isSame } from './compare-members.ts';
import { quote } from './print-request.ts';

type OptionValue = string | number | boolean | undefined;

/** E.g. ` --state active --gone`, each with a space before it. What is undefined or false is left out. */
export function printOptions(options: Record<string, OptionValue>): string {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => ` --${name}${value === true ? '' : ` ${quoteIfNeeded(String(value))}`}`)
    .join('');
}

/** The options of a command for members of a resource. `defaults` are those of a new one; else null and false are. */
export function printMembers(
  command: 'add' | 'update',
  { name: _, ...members }: Readonly<Record<string, unknown>>,
  rules: OptionRules,
  defaults: Readonly<Record<string, unknown>>,
): string {
  const options = Object.entries(members).map(([member, value]): [string, OptionValue] => {
    const name = nameOption(member, rules);
    if (command === 'add' && isSame(value, defaults[member])) return [name, undefined];
    if (value === null) return [name, command === 'add' ? undefined : NO_VALUE];
    if (value === false) return [`no-${name}`, command === 'update'];
    return [name, rules[member]?.example ?? printValue(value, rules[member]?.isJson === true)];
  });
  return printOptions(Object.fromEntries(options));
}

function printValue(value: unknown, isJson: boolean): OptionValue {
  if (typeof value !== 'object') return value as OptionValue;
  const isOfNames =
    !isJson && Array.isArray(value) && value.length > 0 && value.every((it) => typeof it === 'string');
  return isOfNames ? value.join(',') : JSON.stringify(value);
}

/** A word of a shell that needs no quotes stays as it is. */
export function quoteIfNeeded(text: string): string {
  return /^[\w./:@,=-]+$/.test(text) ? text : quote(text);
}

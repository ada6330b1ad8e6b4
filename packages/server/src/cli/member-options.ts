/** The options of a command for the members of a resource: names, help and values follow from the members' schemas. */
import { NO_VALUE, nameOption, type OptionRule, type OptionRules, tryParse } from '@erp-proxy/contract';
import { z } from 'zod';
import { CommandError, type CommandInput, type CommandOption, readNumber, readSwitch } from './command.ts';

type Members = Readonly<Record<string, z.ZodType>>;

/** Rules of options, some of which have a form of their own. */
export type OptionForms = Readonly<Record<string, OptionForm>>;
interface OptionForm extends OptionRule {
  read?: (input: CommandInput, name: string, text: string) => Promise<unknown>;
}

/** `isChange`: omitted members stay, so that there are no defaults, and each switch has an opposite. */
export function listMemberOptions(
  members: Members,
  rules: OptionRules,
  { isChange = false } = {},
): Record<string, CommandOption> {
  const options: Record<string, CommandOption> = {};
  for (const [member, schema] of Object.entries(members)) {
    const name = nameOption(member, rules);
    const value = unwrap(schema);
    const isFile = rules[member]?.file !== undefined;
    const text = explain(schema.description ?? '', isChange).replaceAll(/`(\w+)`/g, (quoted, named) =>
      Object.hasOwn(members, named) ? `--${nameOption(named, rules)}` : quoted,
    );
    const description = isFile ? `${text} The option names a file with it; - for standard input.` : text;
    if (value instanceof z.ZodBoolean) {
      options[name] = { description };
      if (isChange) options[`no-${name}`] = { description: `The opposite of --${name}.` };
    } else if (value instanceof z.ZodEnum) {
      options[name] = { choices: value.options.map(String), description };
    } else options[name] = { value: isFile ? 'file' : nameKind(value), description };
  }
  return options;
}

/** Adapts the description of a member to the command line. */
function explain(description: string, isChange: boolean): string {
  const text = description.replaceAll('null', `"${NO_VALUE}"`);
  return isChange ? text.replace(/ Default, and /, ' ').replace(/ Default: .*$/, '') : text;
}

/** Reads the members that are given. The admin service reports invalid values, all at once. */
export async function readMembers<Shape extends Members>(
  input: CommandInput,
  members: Shape,
  rules: OptionForms,
): Promise<{ [Name in keyof Shape]?: z.infer<Shape[Name]> }> {
  const given: Record<string, unknown> = {};
  for (const [member, schema] of Object.entries(members)) {
    const value = await readMember(input, nameOption(member, rules), schema, rules[member]);
    if (value !== undefined) given[member] = value;
  }
  return given as { [Name in keyof Shape]?: z.infer<Shape[Name]> };
}

async function readMember(
  input: CommandInput,
  name: string,
  schema: z.ZodType,
  { file, read }: OptionForm = {},
): Promise<unknown> {
  const value = unwrap(schema);
  if (value instanceof z.ZodBoolean) return readSwitch(input, name);
  const text = input.option(name);
  if (text === undefined) return undefined;
  if (read !== undefined) return read(input, name, text);
  if (text === NO_VALUE && schema.isNullable()) return null;
  if (file !== undefined) {
    const content = (await input.readInput(text)).toString();
    return file === 'line' ? content.trim() : content;
  }
  if (value instanceof z.ZodNumber) return readNumber(input, name, /^\d{1,10}$/);
  if (!(value instanceof z.ZodArray)) return text;
  return isOfNames(value) ? text.split(',').map((each) => each.trim()) : readList(name, text);
}

function readList(name: string, text: string): unknown[] {
  const list = tryParse(text);
  if (Array.isArray(list)) return list;
  throw new CommandError(`--${name} is not a JSON list, such as '[["is_company","=",true]]'.`);
}

/** True for a list of names, false for a list of any JSON. */
function isOfNames({ element }: z.ZodArray): boolean {
  return !(element instanceof z.ZodUnknown);
}

function nameKind(value: z.ZodType): string {
  if (value instanceof z.ZodNumber) return 'number';
  if (value instanceof z.ZodArray) return isOfNames(value) ? 'name,…' : 'json';
  return value.meta()?.format === 'date-time' ? 'time' : 'text';
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodNullable ? (schema.unwrap() as z.ZodType) : schema;
}

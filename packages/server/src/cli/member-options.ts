/**
 * The options of a command for the members of a resource: names, help and values are derived from the members' schemas.
 */
import { z } from 'zod';
import { CommandError, type CommandInput, type CommandOption, readNumber, readSwitch } from './command.ts';

type Members = Readonly<Record<string, z.ZodType>>;

/** How an option differs from its member. */
export interface OptionRule {
  /** Name of the option. Default: the name of the member, with dashes. */
  name?: string;
  /**
   * Set if the value of the option names a file with the member's value: `line`, its only line; `text`, the whole text.
   */
  file?: 'line' | 'text';
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** The value of an option that sets its member to null. */
const NONE = 'none';

/** `isChange`: the options change a resource. They have no defaults, and each switch has an opposite. */
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
  const text = description.replaceAll('null', `"${NONE}"`);
  return isChange ? text.replace(/ Default, and /, ' ').replace(/ Default: .*$/, '') : text;
}

/** Reads the members that are given. The admin service reports invalid values, all at once. */
export async function readMembers<Shape extends Members>(
  input: CommandInput,
  members: Shape,
  rules: OptionRules,
): Promise<{ [Name in keyof Shape]?: z.infer<Shape[Name]> }> {
  const given: Record<string, unknown> = {};
  for (const [member, schema] of Object.entries(members)) {
    const value = await readMember(input, nameOption(member, rules), schema, rules[member]?.file);
    if (value !== undefined) given[member] = value;
  }
  return given as { [Name in keyof Shape]?: z.infer<Shape[Name]> };
}

async function readMember(
  input: CommandInput,
  name: string,
  schema: z.ZodType,
  file: OptionRule['file'],
): Promise<unknown> {
  const value = unwrap(schema);
  if (value instanceof z.ZodBoolean) return readSwitch(input, name);
  const text = input.option(name);
  if (text === undefined) return undefined;
  if (text === NONE && schema.isNullable()) return null;
  if (file !== undefined) {
    const content = (await input.readInput(text)).toString();
    return file === 'line' ? content.trim() : content;
  }
  if (value instanceof z.ZodNumber) return readNumber(input, name, /^\d{1,10}$/);
  if (!(value instanceof z.ZodArray)) return text;
  return isOfNames(value) ? text.split(',').map((each) => each.trim()) : readList(name, text);
}

function readList(name: string, text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {}
  throw new CommandError(`--${name} is not a JSON list, such as '[["is_company","=",true]]'.`);
}

/** True for a list of names, false for a list of any JSON. */
function isOfNames({ element }: z.ZodArray): boolean {
  return !(element instanceof z.ZodUnknown);
}

export function nameOption(member: string, rules: OptionRules): string {
  return rules[member]?.name ?? member.replaceAll('_', '-');
}

function nameKind(value: z.ZodType): string {
  if (value instanceof z.ZodNumber) return 'number';
  if (value instanceof z.ZodArray) return isOfNames(value) ? 'name,…' : 'json';
  return value.meta()?.format === 'date-time' ? 'time' : 'text';
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodNullable ? (schema.unwrap() as z.ZodType) : schema;
}

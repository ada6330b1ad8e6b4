/**
 * Prints the usage of commands as text for a terminal and as Markdown for docs/cli.md, and answers a command line
 * without a command.
 */

import { findNearestName } from '@erp-proxy/text';
import { wrapWords } from '../config/describe.ts';
import {
  COMMON_OPTIONS,
  type Command,
  CommandError,
  type CommandOption,
  nameValue,
  type Surroundings,
} from './command.ts';
import { VERSION_WORDS } from './version-words.ts';

/** The 120 columns of a page's line less an indent of two, for continuation lines. */
const ITEM_LENGTH_MAX = 118;

/** Prints all commands, one line each. */
function renderHelp(commands: readonly Command[]): string {
  return [
    'erp-proxy: one HTTP endpoint in front of every Odoo server',
    '',
    'Usage: erp-proxy <command> [options] [--<setting> <value> …]',
    '       erp-proxy -v, --version',
    '       erp-proxy -h, --help',
    '',
    ...listCommands(commands),
    '',
    'erp-proxy <command> --help shows its options; docs/settings.md lists the settings.',
    '',
  ].join('\n');
}

/** Prints the commands with the same first word, e.g. `keys`. */
function renderGroupHelp(group: string, commands: readonly Command[]): string {
  return [
    `Usage: erp-proxy ${group} <command> [options]`,
    '',
    ...listCommands(commands),
    '',
    `erp-proxy ${group} <command> --help shows its options.`,
    '',
  ].join('\n');
}

function listCommands(commands: readonly Command[]): string[] {
  const lines = commands.map((command) => ({ usage: describeUsage(command), summary: command.summary }));
  const width = Math.max(...lines.map(({ usage }) => usage.length));
  return lines.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
}

/** Prints one command with its options. */
export function renderCommandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS });
  const names = options.map(([name, option]) => describeOption(name, option));
  const width = Math.max(...names.map((name) => name.length));
  return [
    `Usage: erp-proxy ${describeUsage(command)} [options]`,
    '',
    command.summary,
    '',
    ...options.map(
      ([, option], index) => `  ${(names[index] as string).padEnd(width)}  ${option.description}`,
    ),
    '',
  ].join('\n');
}

/** Prints the body of docs/cli.md. */
export function renderCliMarkdown(commands: readonly Command[]): string {
  const sections = commands.map((command) =>
    [
      `## erp-proxy ${describeUsage(command)}`,
      '',
      ...wrapWords(command.summary),
      '',
      ...listOptions(command.options),
      ...(Object.keys(command.options).length > 0 ? [''] : []),
    ].join('\n'),
  );
  return [
    '# Commands',
    '',
    'In a checkout: `npx erp-proxy <command>`. Exit status: 0 for success, 1 for failure, 2 for wrong usage.',
    '',
    'Every command accepts the [settings](settings.md) as flags (`--http.port 8080`) and these options:',
    '',
    ...listOptions(COMMON_OPTIONS),
    '',
    ...sections,
  ].join('\n');
}

function listOptions(options: Command['options']): string[] {
  return Object.entries(options).map(([name, option]) =>
    wrapWords(`- \`${describeOption(name, option)}\`: ${option.description}`, ITEM_LENGTH_MAX).join('\n  '),
  );
}

function describeUsage({ name, arguments: args = [] }: Command): string {
  return [name, ...args].join(' ');
}

function describeOption(name: string, option: CommandOption): string {
  const names = option.short === undefined ? `--${name}` : `-${option.short}, --${name}`;
  const value = nameValue(option);
  return value === undefined ? names : `${names} <${value}>`;
}

const HELP_WORDS: readonly string[] = ['--help', '-h', 'help'];

/**
 * Answers a command line without a command: prints the help, the help of a group such as `keys`, or the version.
 * Throws a {@link CommandError} that suggests the nearest command if the words name none.
 */
export function showOverview(
  rest: readonly string[],
  commands: readonly Command[],
  version: string,
  { print }: Pick<Surroundings, 'print'>,
): void {
  const [first = ''] = rest;
  const words = rest.filter((word) => !HELP_WORDS.includes(word));
  const asksHelp = words.length < rest.length;
  const named = words.join(' ');
  const group = listGroup(commands, named);
  const command = commands.find(({ name }) => name === named);
  if (VERSION_WORDS.includes(first)) print(`${version}\n`);
  else if (words.length === 0) print(renderHelp(commands));
  else if (group.length > 0) print(renderGroupHelp(named, group));
  else if (asksHelp && command !== undefined) print(renderCommandHelp(command));
  else throw explainUnknown(words, commands);
}

/** The commands with this first word, such as `keys create` and `keys list` for `keys`. */
function listGroup(commands: readonly Command[], word: string): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

function explainUnknown(rest: readonly string[], commands: readonly Command[]): CommandError {
  const words = rest.filter((word) => !word.startsWith('-')).slice(0, 2);
  if (words.length === 0) {
    return new CommandError(`The command must come first, then ${rest[0]}. See erp-proxy --help.`);
  }
  const group = listGroup(commands, words[0] ?? '');
  const hint =
    group.length > 0
      ? `"${words[0]}" goes with one of: ${group.map(({ name }) => name).join(', ')}.`
      : `Did you mean "${guessName(words, commands)}"?`;
  if (words.length === 1 && group.length > 0) {
    return new CommandError(`"${words[0]}" is no command by itself. ${hint} See erp-proxy --help.`);
  }
  return new CommandError(`There is no command "${words.join(' ')}". ${hint} See erp-proxy --help.`);
}

/** Guesses the command that is meant, such as `keys list` for `list keys`. */
function guessName(words: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  const swapped = words.toReversed().join(' ');
  return names.includes(swapped) ? swapped : findNearestName(words.join(' '), names);
}

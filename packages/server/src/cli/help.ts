/** Prints the usage of commands as text for a terminal and as Markdown for docs/cli.md. */
import { wrapWords } from '../config/describe.ts';
import { COMMON_OPTIONS, type Command, type CommandOption, nameValue } from './command.ts';

/** The 120 columns of a page's line less an indent of two, for continuation lines. */
const ITEM_LENGTH_MAX = 118;

/** Prints all commands, one line each. */
export function renderHelp(commands: readonly Command[]): string {
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
export function renderGroupHelp(group: string, commands: readonly Command[]): string {
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

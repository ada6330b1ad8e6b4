/** Runs a command line: finds the command, loads the settings, and turns errors into a message and an exit status. */
import { parseArgs } from 'node:util';
import { AdminError } from '@erp-proxy/admin/errors';
import { VaultError } from '@erp-proxy/control/instances';
import { StartError } from '@erp-proxy/observe/start-error';
import { StoreError } from '@erp-proxy/stores';
import { splitFlags } from '../config/flags.ts';
import type { SettingError } from '../config/given.ts';
import { type LoadOptions, loadSettings, type ProgramSettings } from '../config/load.ts';
import { explainReadError, readErrorCode } from '../config/read-error.ts';
import { COMMON_OPTIONS, type Command, CommandError, nameValue, type Surroundings } from './command.ts';
import { COMMANDS, findCommand } from './commands.ts';
import { printCandidates } from './complete.ts';
import { explainProblem } from './explain-problem.ts';
import { renderCommandHelp, showOverview } from './help.ts';

export interface RunOptions extends Pick<LoadOptions, 'env' | 'readFile' | 'readSecrets' | 'cwd'> {
  /** The arguments without the name of the program. */
  argv: readonly string[];
  version: string;
  /** Settings that another process has loaded. If given, no other source is read. */
  given?: ProgramSettings;
}

/** Runs a command and returns its exit status: 0 for success, 1 for failure, 2 for wrong usage. */
export async function runCommandLine(options: RunOptions, surroundings: Surroundings): Promise<number> {
  if (options.argv[0] === 'complete') {
    surroundings.print(printCandidates(options.argv.slice(2)));
    return 0;
  }
  const { settings: settingFlags, rest } = splitFlags(options.argv);
  const command = findCommand(rest);
  try {
    if (command === undefined) {
      showOverview(rest, COMMANDS, options.version, surroundings);
      return 0;
    }
    const words = command.name.split(' ').length;
    const { values, positionals } = parseOptions(command, rest.slice(words));
    if (values['help'] === true) {
      surroundings.print(renderCommandHelp(command));
      return 0;
    }
    checkArguments(command, positionals);
    checkChoices(command, values);
    const file = values['config'] as string | undefined;
    const load = () =>
      options.given === undefined
        ? loadSettings({ ...options, argv: settingFlags, ...(file === undefined ? {} : { file }) })
        : ({ ok: true, ...options.given } as const);
    const loaded = load();
    const isSet = (name: string) => values[name] === true;
    if (!loaded.ok) {
      const errors = printErrors(loaded.errors);
      if (command.reportErrors) command.reportErrors(errors, { ...surroundings, isSet });
      else surroundings.complain(`${errors.join('\n')}\n`);
      return 2;
    }
    return await command.run({
      ...surroundings,
      readInput: (path) => surroundings.readInput(path).catch((error) => explainUnread(path, error)),
      writeFile: (path, text) =>
        surroundings.writeFile(path, text).catch((error) => explainUnwritten(path, error)),
      arguments: positionals,
      option: (name) => values[name] as string | undefined,
      list: (name) => (values[name] as string[] | undefined) ?? [],
      isSet,
      settings: loaded.settings,
      sources: loaded.sources,
      secretsFile: loaded.secretsFile,
      reloadSettings() {
        const again = load();
        if (again.ok) return again.settings;
        throw new CommandError(printErrors(again.errors).join('\n'));
      },
      version: options.version,
      env: options.env,
      cwd: options.cwd,
    });
  } catch (error) {
    const { message, status } = explainError(error);
    surroundings.complain(`${message}\n`);
    return status;
  }
}

function printErrors(errors: readonly SettingError[]): string[] {
  return errors.map(({ source, message }) => `${source}: ${message}`);
}

/** The message and the exit status of errors that an operator can fix. Other errors are thrown again. */
function explainError(error: unknown): { message: string; status: number } {
  if (error instanceof CommandError) return error;
  if (error instanceof AdminError) {
    return { message: explainProblem(error.problem), status: error.problem.status === 400 ? 2 : 1 };
  }
  if (error instanceof StartError || error instanceof StoreError || error instanceof VaultError) {
    return { message: error.message, status: 1 };
  }
  throw error;
}

function explainUnread(path: string, error: unknown): never {
  throw new CommandError(`${path}: ${explainReadError(error)}`);
}

function explainUnwritten(path: string, error: unknown): never {
  throw new CommandError(
    `${path}: the file cannot be written (${readErrorCode(error) ?? 'unknown error'})`,
    1,
  );
}

function parseOptions(command: Command, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, option]) => {
      const { short, multiple = false } = option;
      const type = nameValue(option) === undefined ? ('boolean' as const) : ('string' as const);
      return [name, { type, multiple, ...(short === undefined ? {} : { short }) }];
    }),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's message goes on with advice on values that begin with a dash, which does not apply here.
    const [what = ''] = (error as Error).message.split(/\.\s/);
    throw new CommandError(`${what}. ${adviseOther(command, what)}See erp-proxy ${command.name} --help.`);
  }
}

/**
 * Names the command that has the option and whose name ends with the given one: `config export` was called `export`.
 */
function adviseOther({ name }: Command, what: string): string {
  const option = /^Unknown option '--?([\w-]+)'/.exec(what)?.[1];
  const other = COMMANDS.find(
    (one) =>
      one.name.endsWith(` ${name}`) &&
      Object.entries(one.options).some(([long, { short }]) => long === option || short === option),
  );
  return other === undefined ? '' : `erp-proxy ${other.name} takes it. `;
}

function checkChoices({ options }: Command, values: Readonly<Record<string, unknown>>): void {
  for (const [name, { choices }] of Object.entries(options))
    if (choices !== undefined && values[name] !== undefined && !choices.includes(String(values[name])))
      throw new CommandError(`--${name} is one of ${choices.join(', ')}.`);
}

function checkArguments({ name, arguments: names = [] }: Command, given: readonly string[]): void {
  const needed = names.filter((argument) => argument.startsWith('<')).length;
  if (given.length >= needed && given.length <= names.length) return;
  const usage = ['erp-proxy', name, ...names].join(' ');
  throw new CommandError(`Call it as: ${usage}. See erp-proxy ${name} --help.`);
}

/** The description of a command: its words, its options and its input. docs/cli.md is generated from it. */
import type { Sources } from '../config/load.ts';
import type { Environment } from '../config/read-environment.ts';
import type { Settings } from '../config/schema.ts';

/** The environment of a command, passed in so that tests can replace it. */
export interface Surroundings {
  /** Writes text to standard output. */
  print(text: string): void;
  /** Resolves when standard output accepts more. Commands that print much wait for it. */
  untilTaken(): Promise<void>;
  /** True if standard output is a terminal. */
  isTerminal: boolean;
  /** True if standard error is a terminal. */
  isErrorTerminal: boolean;
  /**
   * Asks a person for one line. `signal` ends the question, whose answer is then empty. Null without a terminal for
   * question and answer.
   */
  ask: ((question: string, signal?: AbortSignal) => Promise<string>) | null;
  /** Writes text to standard error. */
  complain(text: string): void;
  /** Reads a file, or standard input for `-`. */
  readInput(path: string): Promise<Buffer>;
  /** Creates a file, or replaces it as a whole or not at all. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  /** Resolves when the operator asks the program to end. */
  untilStopped(): Promise<void>;
}

export interface CommandOption {
  /** A letter for the short form, such as `f` for `-f`. */
  short?: string;
  /**
   * The name of the option's value in the help; `choices` in place of it lists the possible values. An option without
   * both is a switch.
   */
  value?: string;
  choices?: readonly string[];
  description: string;
  /** True if the option may be given several times; `list` then returns its values. */
  multiple?: true;
}

export interface CommandInput extends Surroundings {
  /** The arguments after the words of the command. */
  arguments: readonly string[];
  option(name: string): string | undefined;
  /** The values of an option that may be given several times. */
  list(name: string): readonly string[];
  isSet(name: string): boolean;
  settings: Settings;
  sources: Sources;
  /** Path of the file of secrets that belongs to the store, whether or not it exists; null if the store has none. */
  secretsFile: string | null;
  /** Loads the settings again, after a file was created. */
  reloadSettings(): Settings;
  /** Version of this program. */
  version: string;
  env: Environment;
  /** The base of relative paths. */
  cwd: string;
}

export interface Command {
  /** One or two words, e.g. `keys create`. */
  name: string;
  /** Names of the arguments, e.g. `<id>`, `[file]`. Default: none. */
  arguments?: readonly string[];
  summary: string;
  options: Readonly<Record<string, CommandOption>>;
  /** Returns the exit status. */
  run(input: CommandInput): Promise<number>;
  /** Called with the errors of the settings in place of `run`. Default: prints one line each on standard error. */
  reportErrors?(errors: readonly string[], input: Pick<CommandInput, 'print' | 'complain' | 'isSet'>): void;
}

/** A wrong use of a command, or a failure of its environment. The message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** The exit status: 2 for wrong usage, 1 for failure. */
  readonly status: 1 | 2;

  constructor(message: string, status: 1 | 2 = 2) {
    super(message);
    this.status = status;
  }
}

/** Options that every command takes. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  config: { value: 'file', description: 'Read settings from this file instead of erp-proxy.yaml.' },
  help: { short: 'h', description: 'Show the usage of the command.' },
};

/** An option for commands that print data. */
export const JSON_OPTION: CommandOption = { description: 'Print JSON, for programs.' };

/** The text for an option's value in the help; undefined if the option is a switch. */
export function nameValue({ value, choices }: CommandOption): string | undefined {
  return value ?? choices?.join('|');
}

/** Prints data as JSON if that is asked for, otherwise the text. Returns the exit status of a success. */
export function printResult(input: Pick<CommandInput, 'print' | 'isSet'>, data: unknown, text: string): 0 {
  if (input.isSet('json')) printJson(input, data);
  else input.print(text);
  return 0;
}

/** Prints one line for each member. */
export function showMembers(members: object, width: number): string {
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}\n`)
    .join('');
}

/** The number that an option gives, whose text must match `form`; undefined if the option is not given. */
export function readNumber(
  { option }: Pick<CommandInput, 'option'>,
  name: string,
  form: RegExp,
  what = 'a whole number',
): number | undefined {
  const text = option(name);
  if (text === undefined) return undefined;
  if (form.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new CommandError(`--${name} "${text}" is not ${what}.`);
}

/** True for `--name`, false for `--no-name`, undefined if neither is given. */
export function readSwitch({ isSet }: Pick<CommandInput, 'isSet'>, name: string): boolean | undefined {
  const [isOn, isOff] = [isSet(name), isSet(`no-${name}`)];
  if (isOn && isOff) throw new CommandError(`--${name} and --no-${name} exclude each other.`);
  return isOn || isOff ? isOn : undefined;
}

/** Prints data as one line of JSON. */
export function printJson({ print }: Pick<Surroundings, 'print'>, data: unknown): void {
  print(`${JSON.stringify(data)}\n`);
}

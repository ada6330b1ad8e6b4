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
  /** Asks a person for one line, if there is a terminal for question and answer; null: nobody can be asked. */
  ask: ((question: string) => Promise<string>) | null;
  /** Writes text to standard error. */
  complain(text: string): void;
  /** The bytes of a file, or of standard input for `-`. */
  readInput(path: string): Promise<Buffer>;
  /** Creates a file, or replaces it as a whole or not at all. */
  writeFile(path: string, text: string): Promise<void>;
  /** Resolves when the operator asks the program to end. */
  untilStopped(): Promise<void>;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  /** One letter, for `-f`. */
  short?: string;
  /** The name of the value in the help; for `string` only. */
  value?: string;
  description: string;
  /** True: it may be given several times; `list` has its values. */
  multiple?: true;
}

export interface CommandInput extends Surroundings {
  /** The arguments after the command's words. */
  arguments: readonly string[];
  option(name: string): string | undefined;
  /** The values of an option that may be given several times. */
  list(name: string): readonly string[];
  isSet(name: string): boolean;
  settings: Settings;
  sources: Sources;
  /** Path of the file of secrets that belongs to the store, which need not exist; null: the store has none. */
  secretsFile: string | null;
  /** Loads the settings again, after a file was created. */
  reloadSettings(): Settings;
  /** Version of this program. */
  version: string;
  env: Environment;
}

export interface Command {
  /** One or two words, e.g. `keys create`. */
  name: string;
  /** Names of the arguments, e.g. `<id>`, `[file]`. */
  arguments: readonly string[];
  summary: string;
  options: Readonly<Record<string, CommandOption>>;
  /** Returns the exit status. */
  run(input: CommandInput): Promise<number>;
  /** Reports invalid settings instead of `run`. Default: one line each on standard error. */
  reportErrors?(errors: readonly string[], input: Pick<CommandInput, 'print' | 'complain' | 'isSet'>): void;
}

/** A wrong call of a command, or a failure of its environment. The message says what to do. */
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
  config: {
    type: 'string',
    value: 'file',
    description: 'Read settings from this file instead of erp-proxy.yaml.',
  },
  help: { type: 'boolean', short: 'h', description: 'Show the usage of the command.' },
};

/** For commands that print data. */
export const JSON_OPTION: CommandOption = { type: 'boolean', description: 'Print JSON, for programs.' };

/** Prints data as one line of JSON. */
export function printJson({ print }: Pick<Surroundings, 'print'>, data: unknown): void {
  print(`${JSON.stringify(data)}\n`);
}

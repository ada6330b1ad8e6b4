/** What a command is: its words, its options, and what it runs with. docs/cli.md is generated from these. */
import type { Sources } from '../config/load.ts';
import type { Environment } from '../config/read-environment.ts';
import type { Settings } from '../config/schema.ts';

/** The surroundings of a command, handed in so that tests can watch them. */
export interface Surroundings {
  /** Writes text to standard output. */
  print(text: string): void;
  /** Resolves when standard output accepts more. Commands that print much wait for it. */
  untilTaken(): Promise<void>;
  /** True where a person reads standard output. */
  isTerminal: boolean;
  /** Writes text to standard error. */
  complain(text: string): void;
  /** The bytes of a file, or of standard input for `-`. */
  readInput(path: string): Promise<Buffer>;
  /** Makes or replaces a file. */
  writeFile(path: string, text: string): Promise<void>;
  /** Resolves when the operator asks the program to end. */
  untilStopped(): Promise<void>;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  /** A letter for it: `-f`. */
  short?: string;
  /** How the value is called in the help; for `string` only. */
  value?: string;
  description: string;
}

export interface CommandInput extends Surroundings {
  /** What follows the command's words. */
  arguments: readonly string[];
  option(name: string): string | undefined;
  isSet(name: string): boolean;
  settings: Settings;
  sources: Sources;
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
  /** Reports settings that are wrong, in place of `run`; by default a line each on standard error. */
  reportErrors?(errors: readonly string[], input: Pick<CommandInput, 'print' | 'complain' | 'isSet'>): void;
}

/** A fault in how a command was called or in its surroundings: its message says how to mend it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** The exit status: 2 where the command was called wrongly, 1 where it failed. */
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

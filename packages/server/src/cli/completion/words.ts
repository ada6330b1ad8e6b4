/** The words that a shell can complete, from the table of commands and the settings. The same for every shell. */
import { findSetting, SETTING_NAMES } from '../../config/names.ts';
import { COMMON_OPTIONS, type Command, type CommandOption } from '../command.ts';

/** The possible values of an option or an argument. */
export type Values = { kind: 'any' } | { kind: 'files' } | { kind: 'choices'; choices: readonly string[] };

export interface OptionWords {
  /** With its dashes: `--file`, `-f`. */
  names: readonly string[];
  description: string;
  /** Null for a switch. */
  values: Values | null;
}

export interface CommandWords {
  /** One or two words. */
  name: string;
  summary: string;
  options: readonly OptionWords[];
  /** Values of its arguments; null if it takes none. */
  values: Values | null;
}

export interface Words {
  commands: readonly CommandWords[];
  /** The first words of commands of two words, e.g. `keys`. */
  groups: readonly string[];
  /** Settings, which every command takes. */
  settings: readonly OptionWords[];
}

export function listWords(commands: readonly Command[]): Words {
  const firsts = commands.map(({ name }) => name.split(' ')).filter((words) => words.length > 1);
  return {
    commands: commands.map(describeCommand),
    groups: [...new Set(firsts.map(([first = '']) => first))],
    settings: SETTING_NAMES.map((name) => {
      const { kind, description } = findSetting(name);
      const values: Values =
        kind.choices === undefined ? { kind: 'any' } : { kind: 'choices', choices: kind.choices };
      return { names: [`--${name}`], description: shorten(description), values };
    }),
  };
}

function describeCommand({ name, summary, options, arguments: [argument] }: Command): CommandWords {
  return {
    name,
    summary: shorten(summary),
    options: Object.entries({ ...options, ...COMMON_OPTIONS }).map(([long, option]) =>
      describeOption(long, option),
    ),
    values: argument === undefined ? null : readValues(argument.slice(1, -1)),
  };
}

function describeOption(long: string, { type, short, value = '', description }: CommandOption): OptionWords {
  return {
    names: short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`],
    description: shorten(description),
    values: type === 'boolean' ? null : readValues(value),
  };
}

/** `named` is the name of the value in the help: `file`, `active|expired|revoked`. */
function readValues(named: string): Values {
  if (named === 'file') return { kind: 'files' };
  return named.includes('|') ? { kind: 'choices', choices: named.split('|') } : { kind: 'any' };
}

/** The first sentence, without Markdown. */
function shorten(text: string): string {
  return text
    .replace(/[.:;] .*/s, '')
    .replace(/\.$/, '')
    .replaceAll('`', '');
}

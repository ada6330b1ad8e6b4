/** Handles a command line without a command: prints the help, the help of a group such as `keys`, or the version. */
import { findNearestName } from '@erp-proxy/text';
import { type Command, CommandError, type Surroundings } from './command.ts';
import { renderCommandHelp, renderGroupHelp, renderHelp } from './help.ts';
import { VERSION_WORDS } from './version-words.ts';

const HELP_WORDS: readonly string[] = ['--help', '-h', 'help'];

/** Throws a {@link CommandError} that suggests the nearest command if the words name none. */
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

/** `completion`: prints a script with which a shell completes commands, options and settings. */
import { type Command, CommandError } from './command.ts';
import { renderBash } from './completion/bash.ts';
import { renderFish } from './completion/fish.ts';
import { listWords, type Words } from './completion/words.ts';
import { renderZsh } from './completion/zsh.ts';

const SHELLS = new Map<string, (words: Words) => string>([
  ['bash', renderBash],
  ['zsh', renderZsh],
  ['fish', renderFish],
]);

/** `listCommands` returns all commands, including this one. */
export function createCompletionCommand(listCommands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    arguments: [`<${[...SHELLS.keys()].join('|')}>`],
    summary:
      'Print a completion script, e.g. for bash: source <(erp-proxy completion bash). erp-proxy must be on the PATH.',
    options: {},
    async run({ arguments: [shell = ''], print }) {
      const render = SHELLS.get(shell);
      if (render === undefined)
        throw new CommandError(`The shell is one of ${[...SHELLS.keys()].join(', ')}.`);
      print(render(listWords(listCommands())));
      return 0;
    },
  };
}

/** `completion`: a script by which a shell completes the commands, their options and the settings. */
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

/** `listCommands`: all of them, this one included. */
export function createCompletionCommand(listCommands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    arguments: [`<${[...SHELLS.keys()].join('|')}>`],
    summary:
      'Print a completion script for a shell. Bash: source <(erp-proxy completion bash). Zsh: source <(erp-proxy completion zsh). Fish: erp-proxy completion fish | source. The program must be on the PATH; in a checkout it is in node_modules/.bin.',
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

/** `completion`: prints a script with which a shell completes commands, options and settings. */
import { type Command, CommandError } from './command.ts';

/** Each script calls `erp-proxy complete` (complete.ts) for the candidates. */
const SCRIPTS = new Map([
  [
    'bash',
    `# Completion of erp-proxy for bash. In ~/.bashrc: source <(erp-proxy completion bash)
_erp_proxy() {
  local IFS=$'\\n'
  COMPREPLY=($(erp-proxy complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  [[ \${COMPREPLY-} == :files ]] || return 0
  compopt -o filenames 2>/dev/null || true
  COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]#=}"))
}
complete -F _erp_proxy erp-proxy
`,
  ],
  [
    'zsh',
    `#compdef erp-proxy
# Completion of erp-proxy for zsh. In ~/.zshrc, after compinit: source <(erp-proxy completion zsh)
_erp-proxy() {
  local -a found=(\${(f)"$(erp-proxy complete -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  if [[ $found == :files ]]; then compset -P '--*='; _files
  else found=("\${(@)found/$'\\t'/:}"); _describe erp-proxy found
  fi
}
if [[ \${funcstack[1]} == _erp-proxy ]]; then _erp-proxy; else compdef _erp-proxy erp-proxy; fi
`,
  ],
  [
    'fish',
    `# Completion of erp-proxy for fish: erp-proxy completion fish > ~/.config/fish/completions/erp-proxy.fish
function __erp_proxy_complete
    set -l word (commandline -ct)
    set -l found (erp-proxy complete -- (commandline -opc)[2..-1] "$word" 2>/dev/null)
    set -l option (string match -r '^--[^=]*=' -- "$word")
    if test "$found" = :files; set found "$option"(__fish_complete_path (string replace -- "$option" '' "$word"))
    end
    string join \\n -- $found
end
complete -c erp-proxy -f -a '(__erp_proxy_complete)'
`,
  ],
]);
const SHELLS = [...SCRIPTS.keys()];

export const completionCommand: Command = {
  name: 'completion',
  arguments: [`<${SHELLS.join('|')}>`],
  summary:
    'Print a completion script, e.g. for bash: source <(erp-proxy completion bash). erp-proxy must be on the PATH.',
  options: {},
  async run({ arguments: [shell = ''], print }) {
    const script = SCRIPTS.get(shell);
    if (script === undefined) throw new CommandError(`The shell is one of ${SHELLS.join(', ')}.`);
    print(script);
    return 0;
  },
};

/** The completion script for bash. It needs no bash-completion package, and works in bash 3.2. */
import { quoteForSh } from './quote.ts';
import type { CommandWords, OptionWords, Values, Words } from './words.ts';

export function renderBash({ commands, groups, settings }: Words): string {
  const names = commands.map(({ name }) => name);
  const firsts = [...new Set(names.map((name) => name.split(' ')[0] as string))];
  return `# Completion of erp-proxy for bash. In ~/.bashrc: source <(erp-proxy completion bash)
_erp_proxy_reply() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_erp_proxy_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null || true
  COMPREPLY=($(compgen -f -- "$cur"))
}

_erp_proxy() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= skip= word at
  local given=()
  COMPREPLY=()
  # Bash splits --name=value into three words.
  if [[ $cur == '=' ]]; then cur=
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ $word == '=' ]]; then skip=yes
    elif [[ -n $skip ]]; then skip=
    else
      case $word in
        ${listValueOptions(commands, settings).join('|')}) skip=yes ;;
        -*) ;;
        *) given[\${#given[@]}]=$word ;;
      esac
    fi
  done
  case "\${given[0]-} \${given[1]-}" in
${names
  .filter((name) => name.includes(' '))
  .map((name) => `    ${quoteForSh(name)}) command=${quoteForSh(name)} ;;\n`)
  .join('')}    *)
      case "\${given[0]-}" in
        ${names.filter((name) => !name.includes(' ')).join('|')}) command=\${given[0]} ;;
      esac
      ;;
  esac
  case "$command $previous" in
${commands.flatMap(({ name, options }) => options.flatMap((option) => renderOptionCase(name, option))).join('')}  esac
  case $previous in
${settings.map(renderSettingCase).join('')}  esac
  if [[ -z $command ]]; then
    case "\${given[0]-}" in
      '') _erp_proxy_reply ${quoteForSh([...firsts, '--help', '--version'].join(' '))} ;;
${groups
  .map((group) => `      ${group}) _erp_proxy_reply ${quoteForSh(listSeconds(names, group).join(' '))} ;;\n`)
  .join('')}    esac
    return
  fi
  case "$command $cur" in
${commands.map((command) => renderCommandCase(command)).join('')}  esac
}

complete -F _erp_proxy erp-proxy

_erp_proxy_settings=${quoteForSh(settings.flatMap((setting) => setting.names).join(' '))}
`;
}

/** Every option with a value. */
function listValueOptions(commands: readonly CommandWords[], settings: readonly OptionWords[]): string[] {
  const options = [...commands.flatMap((command) => command.options), ...settings];
  const withValues = options.filter(({ values }) => values !== null);
  return [...new Set(withValues.flatMap(({ names }) => names))];
}

function listSeconds(names: readonly string[], group: string): string[] {
  return names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1));
}

function renderOptionCase(command: string, { names, values }: OptionWords): string[] {
  if (values === null) return [];
  const patterns = names.map((name) => quoteForSh(`${command} ${name}`)).join('|');
  return [`    ${patterns}) ${renderValues(values)}; return ;;\n`];
}

function renderSettingCase({ names, values }: OptionWords): string {
  return `    ${names.join('|')}) ${renderValues(values ?? { kind: 'any' })}; return ;;\n`;
}

function renderCommandCase({ name, options, values }: CommandWords): string {
  const names = options.flatMap((option) => option.names).join(' ');
  const own = `    ${quoteForSh(`${name} -`)}*) _erp_proxy_reply "${names} $_erp_proxy_settings" ;;\n`;
  return values === null ? own : `${own}    ${quoteForSh(`${name} `)}*) ${renderValues(values)} ;;\n`;
}

function renderValues(values: Values): string {
  if (values.kind === 'files') return '_erp_proxy_files';
  return values.kind === 'any' ? ':' : `_erp_proxy_reply ${quoteForSh(values.choices.join(' '))}`;
}

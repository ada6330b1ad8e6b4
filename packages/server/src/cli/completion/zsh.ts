/** The completion script for zsh, with descriptions. */
import { quoteForSh } from './quote.ts';
import type { OptionWords, Values, Words } from './words.ts';

export function renderZsh({ commands, groups, settings }: Words): string {
  const options = [...commands.flatMap((command) => command.options), ...settings];
  const valueOptions = options.filter(({ values }) => values !== null).flatMap(({ names }) => names);
  const singles = commands.filter(({ name }) => !name.includes(' '));
  const listGroup = (group: string) =>
    commands
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, summary }) => describe(name.slice(group.length + 1), summary));
  return `#compdef erp-proxy
# Completion of erp-proxy for zsh. In ~/.zshrc, after compinit: source <(erp-proxy completion zsh)
_erp-proxy() {
  local command= skip= word previous=\${words[CURRENT-1]}
  local -a given list settings
  settings=(
${settings.flatMap(listOption).join('')}  )
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then
      skip=
      continue
    fi
    case $word in
      ${[...new Set(valueOptions)].join('|')}) skip=yes ;;
      -*) ;;
      *) given+=("$word") ;;
    esac
  done
  if [[ $PREFIX == --*=* ]]; then
    previous=\${PREFIX%%=*}
    compset -P '*='
  elif [[ -z $skip ]]; then
    previous=
  fi
  case "\${given[1]-} \${given[2]-}" in
${commands
  .filter(({ name }) => name.includes(' '))
  .map(({ name }) => `    ${quoteForSh(name)}) command=${quoteForSh(name)} ;;\n`)
  .join('')}    *)
      case "\${given[1]-}" in
        ${singles.map(({ name }) => name).join('|')}) command=\${given[1]} ;;
      esac
      ;;
  esac
  case "$command $previous" in
${commands.flatMap(({ name, options: own }) => own.flatMap((option) => renderOptionCase(`${name} `, option))).join('')}  esac
  case $previous in
${settings.flatMap((setting) => renderOptionCase('', setting)).join('')}  esac
  case $command in
    '')
      case "\${given[1]-}" in
        '') list=(
${[...singles.map(({ name, summary }) => describe(name, summary)), ...groups.map((group) => describe(group, `Commands: ${listNames(commands, group)}`))].map((line) => `          ${line}\n`).join('')}        ) ;;
${groups
  .map(
    (group) => `        ${group}) list=(
${listGroup(group)
  .map((line) => `          ${line}\n`)
  .join('')}        ) ;;
`,
  )
  .join('')}      esac
      _describe -t commands command list
      return
      ;;
${commands
  .map(
    ({ name, options: own, values }) => `    ${quoteForSh(name)})
      if [[ $PREFIX != -* ]]; then
        ${renderValues(values ?? { kind: 'any' })}
        return
      fi
      list=(
${own.flatMap(listOption).join('')}      ) ;;
`,
  )
  .join('')}  esac
  _describe -o option list -- settings
}

if [[ \${funcstack[1]} == _erp-proxy ]]; then
  _erp-proxy "$@"
else
  compdef _erp-proxy erp-proxy
fi
`;
}

function listNames(commands: Words['commands'], group: string): string {
  return commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name }) => name.slice(group.length + 1))
    .join(', ');
}

function listOption({ names, description }: OptionWords): string[] {
  return names.map((name) => `    ${describe(name, description)}\n`);
}

/** The format of `_describe`: the word, a colon, the description. */
function describe(word: string, description: string): string {
  return quoteForSh(`${word.replaceAll(':', '\\:')}:${description}`);
}

function renderOptionCase(start: string, { names, values }: OptionWords): string[] {
  if (values === null) return [];
  const patterns = names.map((name) => quoteForSh(start + name)).join('|');
  return [`    ${patterns}) ${renderValues(values)}; return ;;\n`];
}

function renderValues(values: Values): string {
  if (values.kind === 'files') return '_files';
  return values.kind === 'any' ? ':' : `compadd -- ${values.choices.map(quoteForSh).join(' ')}`;
}

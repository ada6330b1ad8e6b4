/** The completion script for fish, with descriptions. */
import { quoteForFish } from './quote.ts';
import type { OptionWords, Values, Words } from './words.ts';

export function renderFish({ commands, groups, settings }: Words): string {
  const options = [...commands.flatMap((command) => command.options), ...settings];
  const valueOptions = options.filter(({ values }) => values !== null).flatMap(({ names }) => names);
  const lines = [
    ...commands
      .filter(({ name }) => !name.includes(' '))
      .map(({ name, summary }) => complete(['-n', AT_START, '-a', name, '-d', summary])),
    ...groups.map((group) => complete(['-n', AT_START, '-a', group, '-d', `Commands of ${group}`])),
    complete(['-n', AT_START, '-s', 'h', '-l', 'help', '-d', 'Show all commands']),
    complete(['-n', AT_START, '-s', 'v', '-l', 'version', '-d', 'Show the version']),
    ...commands
      .filter(({ name }) => name.includes(' '))
      .map(({ name, summary }) => {
        const [group = '', second = ''] = name.split(' ');
        return complete(['-n', `__erp_proxy_at ${group}`, '-a', second, '-d', summary]);
      }),
    ...commands.flatMap(({ name, options: own, values }) => [
      ...own.map((option) => renderOption(option, ['-n', `__erp_proxy_in ${name}`])),
      ...(values === null || values.kind === 'any'
        ? []
        : [complete(['-n', `__erp_proxy_in ${name}`, ...renderValues(values)])]),
    ]),
    ...settings.map((setting) => renderOption(setting, [])),
  ];
  return `# Completion of erp-proxy for fish: erp-proxy completion fish > ~/.config/fish/completions/erp-proxy.fish
# The words before the one that is typed, without options and their values.
function __erp_proxy_words
    set -l skip
    for token in (commandline -opc)[2..-1]
        if set -q skip[1]
            set skip
        else if contains -- $token ${[...new Set(valueOptions)].join(' ')}
            set skip yes
        else if not string match -q -- '-*' $token
            echo $token
        end
    end
end

# Whether exactly these words stand there.
function __erp_proxy_at
    set -l given (__erp_proxy_words)
    test "$given" = "$argv"
end

# Whether the words begin with these.
function __erp_proxy_in
    set -l given (__erp_proxy_words)
    set -l length (count $argv)
    test (count $given) -ge $length; and test "$given[1..$length]" = "$argv"
end

complete -c erp-proxy -f
${lines.join('\n')}
`;
}

const AT_START = '__erp_proxy_at';

function renderOption({ names, description, values }: OptionWords, condition: string[]): string {
  const flags = names.flatMap((name) =>
    name.startsWith('--') ? ['-l', name.slice(2)] : ['-s', name.slice(1)],
  );
  return complete([
    ...condition,
    ...flags,
    '-d',
    description,
    ...(values === null ? [] : renderValues(values)),
  ]);
}

function renderValues(values: Values): string[] {
  if (values.kind === 'files') return ['-r', '-F'];
  return values.kind === 'any' ? ['-x'] : ['-x', '-a', values.choices.join(' ')];
}

function complete(words: readonly string[]): string {
  return [
    'complete -c erp-proxy',
    ...words.map((word) => (/^-\w$/.test(word) ? word : quoteForFish(word))),
  ].join(' ');
}

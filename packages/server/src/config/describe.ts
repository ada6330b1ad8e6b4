/** Renders the schema of settings as the reference page and as the commented example file. Reads no settings. */
import {
  findSetting,
  GROUP_NAMES,
  isSettingName,
  nameFileVariable,
  nameVariable,
  SETTING_NAMES,
  splitName,
} from './names.ts';
import type { SettingName } from './schema.ts';

/** The text of docs/settings.md. */
export function renderSettingsMarkdown(): string {
  const groups = GROUP_NAMES.map((group) =>
    isSettingName(group)
      ? [describeSetting(group, '##')]
      : [`## ${group}`, ...listNames(group).map((name) => describeSetting(name, '###'))],
  );
  return `${[INTRODUCTION, ...groups.flat()].join('\n\n')}\n`;
}

/**
 * The text of erp-proxy.example.yaml. Loaded unchanged, it sets nothing. If each `#` that no blank follows is removed,
 * it sets every setting to its default.
 */
export function renderExampleYaml(): string {
  const groups = GROUP_NAMES.map((group) =>
    isSettingName(group)
      ? exemplifySetting(group, '')
      : [`${group}:`, ...listNames(group).map((name) => exemplifySetting(name, '  '))].join('\n'),
  );
  return `${[EXAMPLE_HEAD, ...groups].join('\n\n')}\n`;
}

const INTRODUCTION = `# Settings

Set a value in one of these places. The first place that sets it takes precedence:

1. a flag: \`--http.port 8080\` or \`--http.port=8080\`
2. an environment variable: \`ERP_PROXY_HTTP_PORT=8080\`
3. \`erp-proxy.yaml\` in the working directory, or the file that \`--config\` names
4. \`secrets.yaml\` beside a SQLite database: only \`admin.token\` and \`vault.masterKey\`, as a
   [first start on a terminal](deployment.md#first-start) creates them
5. the default below

[erp-proxy.example.yaml](../erp-proxy.example.yaml) is a file to start from. Unknown names and wrong values prevent the
start, and all of them are reported at once. \`erp-proxy config check\` checks the settings without starting.
\`erp-proxy config print\` shows each value in effect and its source.

- An empty environment variable counts as unset.
- A secret can also come from a file, which the variable \`…_FILE\` names. It takes precedence over the variable
  without \`_FILE\`. While the proxy runs, [changes of the file are taken
  over](deployment.md#secrets-that-change).
- Flags are visible to every user of a machine. Give secrets in a file.
- A list is comma-separated in flags and variables, and a YAML list in the file.
- A number of bytes may have a unit: \`32MiB\`.
- The variables \`OTEL_…\` of OpenTelemetry set some settings too. The variable \`ERP_PROXY_…\` takes precedence.`;

const EXAMPLE_HEAD = `# Settings of erp-proxy: copy this file to erp-proxy.yaml. The commented lines are the defaults. To change one, remove
# its "#". See docs/settings.md.`;

function listNames(group: string): SettingName[] {
  return SETTING_NAMES.filter((name) => splitName(name)[0] === group);
}

function describeSetting(name: SettingName, heading: '##' | '###'): string {
  const { kind, default: initial, description, secret, standardVariables = [] } = findSetting(name);
  const shown = kind.showValue(initial);
  const variables = [
    nameVariable(name),
    ...(secret ? [nameFileVariable(name)] : []),
    ...standardVariables.map((variable) => variable.name),
  ];
  return `${heading} ${name}

${wrapWords(description).join('\n')}

- Default: ${shown === '' ? 'empty' : `\`${shown}\``}
${printItem(`- Value: ${kind.expected}`)}
${printItem(`- Variable: ${variables.map((variable) => `\`${variable}\``).join(' or ')}`)}`;
}

/** Prints an item of a list, on several lines if it is long. */
function printItem(text: string): string {
  return text.length <= ITEM_LENGTH_MAX ? text : wrapWords(text).join('\n  ');
}

function exemplifySetting(name: SettingName, indent: string): string {
  const { kind, default: initial, description } = findSetting(name);
  const comment = wrapWords(`${description} Value: ${kind.expected}.`);
  const entry = `#${splitName(name).at(-1)}: ${kind.showValue(initial)}`.trimEnd();
  return [...comment.map((line) => `# ${line}`), entry].map((line) => indent + line).join('\n');
}

const LINE_LENGTH_MAX = 110;
const ITEM_LENGTH_MAX = 120;

/** A blank at which a line may break. A line that began with one of these marks would be an item of a list. */
const BREAK = / (?!(?:\d+[.)]|[-+*])(?: |$))/;

/** Breaks prose into lines of at most this many characters. */
export function wrapWords(sentences: string, lengthMax = LINE_LENGTH_MAX): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of sentences.split(BREAK)) {
    if (line !== '' && line.length + 1 + word.length > lengthMax) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

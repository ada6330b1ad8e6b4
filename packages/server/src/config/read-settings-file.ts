/**
 * Reads settings from the text of a YAML file, each with its line. The file has groups of settings, and settings
 * without a group.
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLError } from 'yaml';
import { type Reading, reportUnknownName } from './given.ts';
import { findSetting, GROUP_NAMES, isSettingName, SETTING_NAMES, splitName } from './names.ts';
import type { SettingName } from './schema.ts';

/** `label` names the file in sources. */
export function readSettingsFile(text: string, label: string): Reading {
  const reading: Reading = { given: [], errors: [] };
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const locate = (offset = 0) => `${label}:${lineCounter.linePos(offset).line}`;
  const report = (node: Node | null, message: string) =>
    reading.errors.push({ source: locate(node?.range?.[0]), message });

  const reportedLines = new Set<string>();
  for (const error of document.errors) {
    const source = locate(error.pos[0]);
    // Skipped, because the parser often reports one mistake several times.
    if (reportedLines.has(source)) continue;
    reportedLines.add(source);
    reading.errors.push({ source, message: explainYamlError(error) });
  }
  // After any other error, the parser has guessed the rest of the file.
  if (document.errors.some((error) => error.code !== 'DUPLICATE_KEY')) return reading;
  if (text.trim() === '') {
    report(null, 'the file is empty; write settings into it, or delete it');
    return reading;
  }

  readEntries(document.contents, 'the file', (group, groupKey, groupValue) => {
    if (isSettingName(group)) {
      const [outer, inner] = splitName(group);
      if (inner === undefined) return readSetting(group, groupKey, groupValue);
      return report(groupKey, `write ${group} as ${inner} indented below ${outer}:`);
    }
    if (!GROUP_NAMES.includes(group)) {
      return reading.errors.push(reportUnknownName(locate(groupKey.range?.[0]), group, GROUP_NAMES));
    }
    readEntries(groupValue, group, (key, keyNode, value) => {
      const name = `${group}.${key}`;
      if (isSettingName(name)) return readSetting(name, keyNode, value);
      reading.errors.push(reportUnknownName(locate(keyNode.range?.[0]), name, SETTING_NAMES));
    });
  });
  return reading;

  function readSetting(name: SettingName, keyNode: Node, value: Node | null): void {
    const { isNested } = findSetting(name).kind;
    const plain = isNested === true ? readNestedValue(value) : readPlainValue(value);
    if (plain === undefined) report(keyNode, `${name} must be ${findSetting(name).kind.expected}`);
    else reading.given.push({ name, value: plain, source: locate(keyNode.range?.[0]) });
  }

  /** Calls `readEntry` for each entry. A missing value, as in a file of comments only, has no entries. */
  function readEntries(
    node: Node | null,
    what: string,
    readEntry: (key: string, keyNode: Node, value: Node | null) => void,
  ): void {
    if (node === null || (isScalar(node) && node.value === null)) return;
    if (!isMap<Node, Node | null>(node)) {
      report(node, `${what} must hold lines of the form "name: value"`);
      return;
    }
    for (const { key, value } of node.items) {
      if (isScalar(key) && typeof key.value === 'string') readEntry(key.value, key, value);
      else report(key, `a name in ${what} must be plain text`);
    }
  }
}

/** Returns a scalar or a list of scalars; undefined for maps, aliases and deeper nesting. */
function readPlainValue(node: Node | null): unknown {
  if (node === null) return null;
  if (isScalar(node)) return node.value;
  if (!isSeq<Node | null>(node)) return undefined;
  return node.items.every((item) => isScalar(item)) ? node.items.map((item) => item.value) : undefined;
}

/** Returns any value that JSON can express; undefined if there are aliases, or names that are not texts. */
function readNestedValue(node: Node | null): unknown {
  if (node === null) return null;
  if (isScalar(node)) return node.value;
  if (isSeq<Node | null>(node)) return collect(node.items.map(readNestedValue));
  if (!isMap<Node, Node | null>(node)) return undefined;
  const names = node.items.map(({ key }) =>
    isScalar(key) && typeof key.value === 'string' ? key.value : undefined,
  );
  const values = collect(node.items.map(({ value }) => readNestedValue(value)));
  if (names.includes(undefined) || values === undefined) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

function collect(values: unknown[]): unknown[] | undefined {
  return values.includes(undefined) ? undefined : values;
}

export const NAME_TWICE = 'this name stands twice in its group; keep one';

/** Describes the errors of YAML files. The parser's own messages quote the file, which may contain secrets. */
export function explainYamlError({ code }: YAMLError): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return NAME_TWICE;
    case 'TAB_AS_INDENT':
      return 'lines are indented with spaces, not with tabs';
    case 'TAG_RESOLVE_FAILED':
      return 'tags (!name) are not taken here';
    case 'MULTIPLE_DOCS':
      return 'the file must be one YAML document; remove the line ---';
    default:
      return `this is not valid YAML (${code}): is the file whole? Check indentation, quotes and brackets`;
  }
}

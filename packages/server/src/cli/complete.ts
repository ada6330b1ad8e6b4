/**
 * `complete -- <words>`: prints what can stand in place of the last word of a command line. The scripts of
 * completion.ts ask for it at each completion.
 */
import { findSetting, SETTING_NAMES } from '../config/names.ts';
import { COMMON_OPTIONS, type CommandOption, nameValue } from './command.ts';
import { COMMANDS, findCommand } from './commands.ts';

interface Candidate {
  word: string;
  description?: string;
}

/** Printed in place of candidates where a file name is expected. */
const FILES = ':files';

const SETTING_OPTIONS: Record<string, CommandOption> = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const { description, kind } = findSetting(name);
    return [name, { value: kind.choices?.join('|') ?? 'value', description }];
  }),
);

/** One line for each candidate: the word, and its description after a tab, if any. */
export function printCandidates(words: readonly string[]): string {
  // Bash splits `--name=value` into three words.
  const split = words.at(-1) === '=' ? [...words, ''] : words;
  const [typed = '', ...before] = split.filter((word) => word !== '=').toReversed();
  // Other shells pass `--name=value` as one word.
  const [, assigned = '', start = ''] = /^(--[^=]*=)?(.*)$/s.exec(typed) ?? [];
  const found = listCandidates(before.reverse(), assigned, start);
  if (found === FILES) return `${FILES}\n`;
  return found
    .filter(({ word }) => word.startsWith(start))
    .map(({ word, description }) => `${assigned}${word}${description ? `\t${shorten(description)}` : ''}\n`)
    .join('');
}

function listCandidates(
  before: readonly string[],
  assigned: string,
  start: string,
): Candidate[] | typeof FILES {
  const given: string[] = [];
  let valued = '';
  for (const word of before) {
    if (valued !== '') valued = '';
    else if (takesValue(word)) valued = word;
    else if (!word.startsWith('-')) given.push(word);
  }
  const command = findCommand(given);
  const options = { ...command?.options, ...COMMON_OPTIONS, ...SETTING_OPTIONS };
  const name = assigned === '' ? valued : assigned.slice(0, -1);
  if (name !== '') {
    const [, option] = Object.entries(options).find((entry) => nameOption(entry).includes(name)) ?? [];
    return listValues(option?.choices?.join('|') ?? option?.value);
  }
  if (command === undefined) return listCommandWords(given);
  if (!start.startsWith('-')) return listValues(command.arguments?.[0]?.slice(1, -1));
  return Object.entries(options).flatMap((entry) =>
    nameOption(entry).map((word) => ({ word, description: entry[1].description })),
  );
}

function takesValue(word: string): boolean {
  return [SETTING_OPTIONS, COMMON_OPTIONS, ...COMMANDS.map(({ options }) => options)].some((options) =>
    Object.entries(options).some((entry) => nameValue(entry[1]) && nameOption(entry).includes(word)),
  );
}

/** `--file` and, if the option has a letter, `-f`. */
function nameOption([long, { short }]: [string, CommandOption]): string[] {
  return short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`];
}

/** `named`: the name of the value in the help, such as `file` or `active|expired|revoked`. */
function listValues(named = ''): Candidate[] | typeof FILES {
  if (named === 'file') return FILES;
  return named.includes('|') ? named.split('|').map((word) => ({ word })) : [];
}

/** The next words of the commands that begin with the given ones. */
function listCommandWords(given: readonly string[]): Candidate[] {
  const descriptions = new Map<string, string>();
  for (const { name, summary } of COMMANDS) {
    const words = name.split(' ');
    const next = words[given.length];
    if (next === undefined || given.some((word, at) => words[at] !== word)) continue;
    descriptions.set(next, words.length > given.length + 1 ? `Commands of ${next}` : summary);
  }
  if (given.length === 0)
    descriptions.set('--help', 'Show all commands').set('--version', 'Show the version');
  return [...descriptions].map(([word, description]) => ({ word, description }));
}

/** Returns the first sentence, without Markdown. */
function shorten(text: string): string {
  return text
    .replace(/[.:;] .*/s, '')
    .replace(/\.$/, '')
    .replaceAll('`', '');
}

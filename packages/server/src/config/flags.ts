/** Splits a command line into settings and the arguments of commands. Checks no value. */

import { type Reading, reportUnknownName } from './given.ts';
import { findSetting, isSettingName, SETTING_NAMES } from './names.ts';

interface SplitFlags {
  /** Flags in the form `--name=value`, or `--name` if the value is missing. */
  settings: string[];
  rest: string[];
}

/**
 * A flag is a setting if its name is that of a setting or has a dot. So a misspelt `--http.prot` is refused, and not
 * taken for a flag of the command. Arguments after a lone `--` are never settings.
 */
export function splitFlags(argv: readonly string[]): SplitFlags {
  const split: SplitFlags = { settings: [], rest: [] };
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === '--') {
      split.rest.push(...argv.slice(i));
      break;
    }
    const { name, value } = parseFlag(argument);
    if (!isSettingName(name) && !name.includes('.')) {
      split.rest.push(argument);
    } else if (value === undefined && isValueOf(name, argv[i + 1])) {
      split.settings.push(`${argument}=${argv[++i]}`);
    } else {
      split.settings.push(argument);
    }
  }
  return split;
}

/** Splits a flag. The name is empty if the argument is not a flag. */
function parseFlag(argument: string): { name: string; value?: string } {
  const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
  return value === undefined ? { name } : { name, value };
}

/**
 * True if the next argument is the value of the flag. A switch takes no value (`--errors.debug serve`) unless true or
 * false follows.
 */
function isValueOf(name: string, next: string | undefined): boolean {
  if (next === undefined || next.startsWith('--')) return false;
  return !isSwitch(name) || next === 'true' || next === 'false';
}

/** True if the flag without a value means true. */
function isSwitch(name: string): boolean {
  return isSettingName(name) && typeof findSetting(name).default === 'boolean';
}

/** Reads settings from command-line flags: `--http.port 8080` and `--http.port=8080`. */
export function readFlags(argv: readonly string[]): Reading {
  const reading: Reading = { given: [], errors: [] };
  const seen = new Set<string>();
  const { settings, rest } = splitFlags(argv);
  for (const argument of settings) {
    const { name, value = isSwitch(name) ? 'true' : undefined } = parseFlag(argument);
    const source = `--${name}`;
    if (!isSettingName(name)) {
      reading.errors.push(reportUnknownName(source, source, FLAGS));
    } else if (value === undefined) {
      reading.errors.push({ source, message: `${name} needs a value: ${source}=…` });
    } else if (seen.has(name)) {
      reading.errors.push({
        source,
        message: `${name} is given twice; separate the entries of a list by commas`,
      });
    } else {
      seen.add(name);
      reading.given.push({ name, value: findSetting(name).kind.readText(value), source });
    }
  }
  if (rest.length > 0) {
    // The argument is not shown: it may be a part of a secret that the shell split at a blank.
    const message = 'a part of the arguments belongs to no setting; a value with blanks needs quotes';
    reading.errors.push({ source: 'arguments', message });
  }
  return reading;
}

const FLAGS = SETTING_NAMES.map((name) => `--${name}`);

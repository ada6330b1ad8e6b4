/** Splits a command line into settings and the arguments of commands. Checks no value. */
import { findSetting, isSettingName } from './names.ts';

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
export function parseFlag(argument: string): { name: string; value?: string } {
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
export function isSwitch(name: string): boolean {
  return isSettingName(name) && typeof findSetting(name).default === 'boolean';
}

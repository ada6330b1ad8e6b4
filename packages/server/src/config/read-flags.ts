/** Reads settings from command-line flags: `--http.port 8080` and `--http.port=8080`. */
import { isSwitch, parseFlag, splitFlags } from './flags.ts';
import { type Reading, reportUnknownName } from './given.ts';
import { findSetting, isSettingName, SETTING_NAMES } from './names.ts';

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

/**
 * Loads the settings from defaults, `secrets.yaml` beside a SQLite database, `erp-proxy.yaml`, the environment and
 * flags. Later sources take precedence. Reports all errors of all sources at once.
 */

import { resolve } from 'node:path';
import { clipText } from '@erp-proxy/contract';
import { readFlags } from './flags.ts';
import type { GivenSetting, Reading, SettingError } from './given.ts';
import { maskValue } from './mask.ts';
import { findSetting, SETTING_NAMES, splitName } from './names.ts';
import { type Environment, readEnvironment } from './read-environment.ts';
import { explainReadError, readErrorCode } from './read-error.ts';
import { readSettingsFile } from './read-settings-file.ts';
import type { SettingName, Settings } from './schema.ts';
import { locateSecretsFile } from './secrets-file.ts';

export interface LoadOptions {
  /** Flags that are settings, as `splitFlags` returns them. */
  argv: readonly string[];
  env: Environment;
  /** Returns the text of a file, or throws as `readFileSync` does. */
  readFile: (path: string) => string;
  /** Reads the file of secrets at this path. `label` names it in sources. Left out if there is no such file. */
  readSecrets?: (path: string, label: string) => Reading;
  /** The folder of `erp-proxy.yaml`, and the base of relative paths. */
  cwd: string;
  /** A settings file that the operator names. It must exist, and replaces `erp-proxy.yaml`. */
  file?: string;
}

/** The source of each value, or `default`. */
export type Sources = ReadonlyMap<SettingName, string>;

export interface ProgramSettings {
  settings: Settings;
  sources: Sources;
  /** Path of the file of secrets that belongs to the store, whether or not it exists; null if the store has none. */
  secretsFile: string | null;
}

type LoadedSettings = ({ ok: true } & ProgramSettings) | { ok: false; errors: SettingError[] };

export function loadSettings({ argv, env, readFile, readSecrets, cwd, file }: LoadOptions): LoadedSettings {
  const operator = [readFromFile(readFile, cwd, file), readEnvironment(env, readFile, cwd), readFlags(argv)];
  const secretsFile = findSecretsFile(operator);
  const secrets = secretsFile === null ? undefined : readSecrets?.(resolve(cwd, secretsFile), secretsFile);
  const readings = secrets === undefined ? operator : [secrets, ...operator];
  const errors = readings.flatMap((reading) => reading.errors);
  const values = new Map<SettingName, unknown>();
  const sources = new Map<SettingName, string>();
  for (const name of SETTING_NAMES) {
    values.set(name, findSetting(name).default);
    sources.set(name, 'default');
  }
  for (const given of readings.flatMap((reading) => reading.given)) {
    const checked = checkValue(given);
    if (!checked.ok) {
      errors.push({ source: given.source, message: checked.message });
      continue;
    }
    values.set(given.name, checked.value);
    sources.set(given.name, given.source);
  }
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, settings: nestValues(values), sources, secretsFile };
}

/**
 * The path of the file of secrets. Null if the store has none, or if its URL is invalid, which is reported with the
 * other errors.
 */
function findSecretsFile(readings: readonly Reading[]): string | null {
  const { kind, default: initial } = findSetting('store.url');
  const given = readings.flatMap((reading) => reading.given).findLast(({ name }) => name === 'store.url');
  const url = given === undefined ? initial : kind.schema.safeParse(given.value).data;
  return typeof url === 'string' ? locateSecretsFile(url) : null;
}

const DEFAULT_FILE = 'erp-proxy.yaml';

function readFromFile(readFile: LoadOptions['readFile'], cwd: string, file: string | undefined): Reading {
  const label = file ?? DEFAULT_FILE;
  let text: string;
  try {
    text = readFile(resolve(cwd, label));
  } catch (error) {
    if (file === undefined && readErrorCode(error) === 'ENOENT') return { given: [], errors: [] };
    return { given: [], errors: [{ source: label, message: explainReadError(error) }] };
  }
  return readSettingsFile(text, label);
}

/** Checks the value of one setting. The message names no secret. */
export function checkValue(
  given: Pick<GivenSetting, 'name' | 'value'>,
): { ok: true; value: unknown } | { ok: false; message: string } {
  const checked = findSetting(given.name).kind.schema.safeParse(given.value);
  return checked.success
    ? { ok: true, value: checked.data }
    : { ok: false, message: explainWrongValue(given) };
}

function explainWrongValue({ name, value }: Pick<GivenSetting, 'name' | 'value'>): string {
  const { kind, secret } = findSetting(name);
  const expectation = `${name} must be ${kind.expected}`;
  if (secret) return expectation;
  const shown = JSON.stringify(maskValue(name, value)) ?? String(value);
  return `${expectation}, not ${clipText(shown, SHOWN_LENGTH_MAX)}`;
}

const SHOWN_LENGTH_MAX = 80;

/** The settings with another value of one of them, which must have passed its check. */
export function replaceSetting(settings: Settings, name: SettingName, value: unknown): Settings {
  const [group, key] = splitName(name);
  const groups: Record<string, unknown> = settings;
  const replaced = key === undefined ? value : { ...(groups[group] as object), [key]: value };
  return { ...settings, [group]: replaced };
}

export function readSetting(settings: Settings, name: SettingName): unknown {
  const [group, key] = splitName(name);
  const groups: Record<string, unknown> = settings;
  return key === undefined ? groups[group] : (groups[group] as Record<string, unknown>)[key];
}

function nestValues(values: ReadonlyMap<SettingName, unknown>): Settings {
  const settings: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of values) {
    const [group, key] = splitName(name);
    if (key === undefined) settings[group] = value;
    else groups[group] = { ...groups[group], [key]: value };
  }
  // Safe, because the names come from the schema, and each value has passed its check.
  return { ...settings, ...groups } as unknown as Settings;
}

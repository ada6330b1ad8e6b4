/** Prints the settings in effect and their sources, for `config print`. Secrets are masked. */
import type { Sources } from './load.ts';
import { maskValue } from './mask.ts';
import { findSetting, SETTING_NAMES, splitName } from './names.ts';
import type { SettingName, Settings } from './schema.ts';

export function printSettings(settings: Settings, sources: Sources, format: 'text' | 'json'): string {
  const rows = SETTING_NAMES.map((name) => ({
    name,
    value: maskValue(name, readSetting(settings, name)),
    source: sources.get(name) ?? 'default',
  }));
  if (format === 'json') {
    return `${JSON.stringify(Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest])), null, 2)}\n`;
  }
  const lines = rows.map(({ name, value, source }) => {
    const entry = `${name} = ${findSetting(name).kind.showValue(value)}`.trimEnd();
    return { entry, source };
  });
  const width = Math.max(...lines.map(({ entry }) => entry.length));
  return lines.map(({ entry, source }) => `${entry.padEnd(width)}  # ${source}\n`).join('');
}

function readSetting(settings: Settings, name: SettingName): unknown {
  const [group, key] = splitName(name);
  const found = (settings as unknown as Readonly<Record<string, unknown>>)[group];
  return key === undefined ? found : (found as Readonly<Record<string, unknown>>)[key];
}

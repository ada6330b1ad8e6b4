/** The external names of a setting, derived from its name in the schema. */
import { SETTINGS, type Setting, type SettingName } from './schema.ts';

export const VARIABLE_PREFIX = 'ERP_PROXY_';

/** Variables with the client key, the address of the proxy and the instance, for commands that call a running proxy. */
export const KEY_VARIABLE = `${VARIABLE_PREFIX}KEY`;
export const URL_VARIABLE = `${VARIABLE_PREFIX}URL`;
export const INSTANCE_VARIABLE = `${VARIABLE_PREFIX}INSTANCE`;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** `http`, `store` and so on, in the order of the schema. A setting without a group forms its own group. */
export const GROUP_NAMES: readonly string[] = [...new Set(SETTING_NAMES.map((name) => splitName(name)[0]))];

/** E.g. `http.bodyBytesMax` → `ERP_PROXY_HTTP_BODY_BYTES_MAX`. */
export function nameVariable(name: SettingName): string {
  const words = name.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter}`);
  return VARIABLE_PREFIX + words.toUpperCase();
}

/** E.g. `keys.hashSecret` → `ERP_PROXY_KEYS_HASH_SECRET_FILE`, which names a file with the value. Only for secrets. */
export function nameFileVariable(name: SettingName): string {
  return `${nameVariable(name)}_FILE`;
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** E.g. `http.port` → `['http', 'port']`, `workers` → `['workers']`. */
export function splitName(name: SettingName): [group: string, key?: string] {
  const [group = '', key] = name.split('.');
  return key === undefined ? [group] : [group, key];
}

/** The schema of a setting, without the type of its value. */
export function findSetting(name: SettingName): Setting {
  return SETTINGS[name] as Setting;
}

/** Masks the secrets in a setting's value. Every place that shows values uses it. */
import { findSetting } from './names.ts';
import type { SettingName } from './schema.ts';

/** Masks values of any type, because error messages show what was given. */
export function maskValue(name: SettingName, value: unknown): unknown {
  if (value === null || (Array.isArray(value) && value.length === 0)) return value;
  return findSetting(name).secret === true ? '***' : maskUserInfo(value);
}

/** Masks user and password in a URL: those of databases and proxies often contain a password. */
function maskUserInfo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskUserInfo);
  if (typeof value !== 'string') return value;
  const at = value.lastIndexOf('@');
  if (at === -1) return value;
  const slashes = value.slice(0, at).indexOf('//');
  return `${slashes === -1 ? '' : value.slice(0, slashes + 2)}***${value.slice(at)}`;
}

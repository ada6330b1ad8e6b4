/**
 * Says what of a setting's value people may see. Everything that shows a value asks it first.
 */
import { findSetting } from './names.ts';
import type { SettingName } from './schema.ts';

/** Takes any value, of the right type or not, since errors show what was given. */
export function maskValue(name: SettingName, value: unknown): unknown {
  if (value === null || (Array.isArray(value) && value.length === 0)) return value;
  return findSetting(name).secret === true ? '***' : maskUserInfo(value);
}

/** Databases and proxies are often named by URLs that hold a password. */
function maskUserInfo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskUserInfo);
  if (typeof value !== 'string') return value;
  const at = value.lastIndexOf('@');
  if (at === -1) return value;
  const slashes = value.slice(0, at).indexOf('//');
  return `${slashes === -1 ? '' : value.slice(0, slashes + 2)}***${value.slice(at)}`;
}

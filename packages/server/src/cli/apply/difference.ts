/** What differs between two values of JSON, member by member. */
import { isDeepStrictEqual } from 'node:util';

/** By the path of a member, e.g. `policy.models["res.partner"]`; undefined where it is not there. */
export type Difference = Record<string, { from: unknown; to: unknown }>;

/** Objects are looked into where both sides have one; the order of members does not count, that of lists does. */
export function findDifference(from: unknown, to: unknown, path = ''): Difference {
  if (isDeepStrictEqual(from, to)) return {};
  if (!isObject(from) || !isObject(to)) return { [path]: { from, to } };
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.assign(
    {},
    ...[...names].map((name) => findDifference(from[name], to[name], joinPath(path, name))),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joinPath(path: string, name: string): string {
  if (!/^\w+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

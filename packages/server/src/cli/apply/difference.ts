/** Compares two JSON values, member by member. */

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@erp-proxy/json';

/** Changes by the path of the member, e.g. `policy.models["res.partner"]`. A missing member is undefined. */
export type Difference = Record<string, { from: unknown; to: unknown }>;

/** Compares two objects by their members, in any order, and lists as a whole. */
export function findDifference(from: unknown, to: unknown, path = ''): Difference {
  if (isDeepStrictEqual(from, to)) return {};
  if (!isObject(from) || !isObject(to)) return { [path]: { from, to } };
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.assign(
    {},
    ...[...names].map((name) => findDifference(from[name], to[name], joinPath(path, name))),
  );
}

function joinPath(path: string, name: string): string {
  if (!/^\w+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

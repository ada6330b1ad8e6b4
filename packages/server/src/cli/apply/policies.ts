/**
 * The policies of a configuration file. Resolves `extends` before parsePolicy reads the result, so that neither the
 * store nor the proxy knows `extends`.
 */
import type { Policy } from '@erp-proxy/contract';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { findNearestName } from '@erp-proxy/text';
import { findLine, type LineError, type Located, type LocatedMap, toValue } from './document.ts';

/** Resolves policies that are given by name or inline. */
export interface Policies {
  /** Null if the policy has errors, which are passed to `report`. */
  resolve(located: Located): Policy | null;
  /** Checks the policies that no key uses. A policy that others extend need not be complete. */
  checkUnused(): void;
}

/** Maximum length of a chain of `extends` below one policy. */
const DEPTH_MAX = 32;

interface Merged extends LocatedMap {
  /** Length of the longest chain of `extends` below this policy. */
  depth: number;
}

export function createPolicies(
  named: ReadonlyMap<string, Located>,
  report: (error: LineError) => void,
): Policies {
  const merged = new Map<string, Merged | null>();
  const checked = new Map<string, Policy | null>();
  const extended = new Set<string>();

  function check(located: LocatedMap | null): Policy | null {
    if (located === null) return null;
    const result = parseLocatedPolicy(located);
    if ('policy' in result) return result.policy;
    for (const error of result.errors) report(error);
    return null;
  }

  function findNamed(name: string): Policy | null {
    let policy = checked.get(name);
    if (policy === undefined) {
      policy = check(mergeNamed(name, []));
      checked.set(name, policy);
    }
    return policy;
  }

  function mergeNamed(name: string, path: readonly string[]): Merged | null {
    let policy = merged.get(name);
    if (policy === undefined) {
      policy = merge(named.get(name) as Located, [...path, name]);
      merged.set(name, policy);
    }
    return policy;
  }

  /** Merges a policy with its bases, in their order. Later ones take precedence, member by member. */
  function merge(located: Located, path: readonly string[]): Merged | null {
    if (located.kind !== 'map') {
      report({ line: located.line, message: 'a policy holds members such as "models: …"' });
      return null;
    }
    const own = new Map(located.members);
    const bases = listBases(own.get('extends'), path);
    own.delete('extends');
    const layers = bases?.map((name) => mergeNamed(name, path)) ?? [null];
    if (layers.includes(null)) return null;
    const members = [...layers, { members: own }].reduce((below, layer) => {
      for (const [name, member] of layer?.members ?? [])
        below.set(name, mergeMember(name, below.get(name), member));
      return below;
    }, new Map<string, Located>());
    const depth = layers.reduce((deepest, layer) => Math.max(deepest, (layer?.depth ?? 0) + 1), 0);
    return { kind: 'map', line: located.line, members, depth };
  }

  function listBases(member: Located | undefined, path: readonly string[]): string[] | null {
    if (member === undefined) return [];
    const bases = member.kind === 'list' ? member.items : [member];
    const errors = bases.flatMap((base) => {
      const message = explainBase(base, path);
      return message === null ? [] : [{ line: base.line, message }];
    });
    for (const error of errors) report(error);
    if (errors.length > 0) return null;
    const names = bases.map((base) => String(toValue(base)));
    for (const name of names) extended.add(name);
    return names;
  }

  function explainBase(base: Located, path: readonly string[]): string | null {
    const name = toValue(base);
    if (typeof name !== 'string') return '`extends` is the name of a policy of this file, or a list of them';
    if (path.includes(name)) return `policies extend each other in a circle: ${[...path, name].join(' → ')}`;
    if (path.length + (merged.get(name)?.depth ?? 0) > DEPTH_MAX)
      return `more than ${DEPTH_MAX} policies extend each other in a row`;
    return named.has(name) ? null : explainUnknown(name, [...named.keys()]);
  }

  return {
    resolve(located) {
      if (located.kind !== 'scalar') return check(merge(located, []));
      const { line, value } = located;
      if (typeof value === 'string' && named.has(value)) return findNamed(value);
      const message =
        typeof value === 'string'
          ? explainUnknown(value, [...named.keys()])
          : 'a policy is the name of one of this file, or holds members such as "models: …"; null for none';
      report({ line, message });
      return null;
    },
    checkUnused() {
      for (const name of named.keys()) mergeNamed(name, []);
      for (const name of named.keys()) if (!extended.has(name)) findNamed(name);
    },
  };
}

/** Parses a complete policy. Each error has the line of its member. */
export function parseLocatedPolicy(located: Located): { policy: Policy } | { errors: LineError[] } {
  const parsed = parsePolicy(toValue(located));
  if ('policy' in parsed) return parsed;
  return {
    errors: parsed.errors.map(({ path, message }) => ({
      line: findLine(located, path),
      message: path === '' ? message : `${path}: ${message}`,
    })),
  };
}

/** Merges `models` by pattern. Any other member replaces the member of the base. */
function mergeMember(name: string, below: Located | undefined, above: Located): Located {
  if (name !== 'models' || below?.kind !== 'map' || above.kind !== 'map') return above;
  return { ...above, members: new Map([...below.members, ...above.members]) };
}

function explainUnknown(name: string, known: readonly string[]): string {
  const nearest = known.length === 0 ? 'it has none' : `the nearest is "${findNearestName(name, known)}"`;
  return `this file has no policy "${name}"; ${nearest}`;
}

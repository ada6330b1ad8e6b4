/**
 * The policies of a configuration file: `extends` is resolved here, before parsePolicy judges what comes out, so that
 * neither the store nor the proxy knows of it.
 */
import type { Policy } from '@erp-proxy/contract';
import { findNearestName } from '../../config/nearest.ts';
import { parsePolicy } from '../../policy/parse.ts';
import { findLine, type LineError, type Located, type LocatedMap, toValue } from './document.ts';

/** Resolves policies by name, or as they stand below a key. */
export interface Policies {
  /** Null where it has errors, which `report` has been told. */
  resolve(located: Located): Policy | null;
  /** Judges those that nobody has asked for; one that others extend need not be whole. */
  judgeOthers(): void;
}

/** Maximum length of a chain of policies that extend each other, below one policy. */
const DEPTH_MAX = 32;

interface Merged extends LocatedMap {
  /** Length of the longest chain of policies below it. */
  depth: number;
}

export function createPolicies(
  named: ReadonlyMap<string, Located>,
  report: (error: LineError) => void,
): Policies {
  const merged = new Map<string, Merged | null>();
  const judged = new Map<string, Policy | null>();
  const extended = new Set<string>();

  function judge(located: LocatedMap | null): Policy | null {
    if (located === null) return null;
    const result = judgePolicy(located);
    if ('policy' in result) return result.policy;
    for (const error of result.errors) report(error);
    return null;
  }

  function findNamed(name: string): Policy | null {
    let policy = judged.get(name);
    if (policy === undefined) {
      policy = judge(mergeNamed(name, []));
      judged.set(name, policy);
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

  /** What a policy extends lies below it, in order: the later one wins, member by member. */
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
      if (located.kind !== 'scalar') return judge(merge(located, []));
      const { line, value } = located;
      if (typeof value === 'string' && named.has(value)) return findNamed(value);
      const message =
        typeof value === 'string'
          ? explainUnknown(value, [...named.keys()])
          : 'a policy is the name of one of this file, or holds members such as "models: …"; null for none';
      report({ line, message });
      return null;
    },
    judgeOthers() {
      for (const name of named.keys()) mergeNamed(name, []);
      for (const name of named.keys()) if (!extended.has(name)) findNamed(name);
    },
  };
}

/** Judges a whole policy; each error gets the line of the member that it is about. */
export function judgePolicy(located: Located): { policy: Policy } | { errors: LineError[] } {
  const parsed = parsePolicy(toValue(located));
  if ('policy' in parsed) return parsed;
  return {
    errors: parsed.errors.map(({ path, message }) => ({
      line: findLine(located, path),
      message: path === '' ? message : `${path}: ${message}`,
    })),
  };
}

/** Models are merged by their pattern; any other member replaces the one below. */
function mergeMember(name: string, below: Located | undefined, above: Located): Located {
  if (name !== 'models' || below?.kind !== 'map' || above.kind !== 'map') return above;
  return { ...above, members: new Map([...below.members, ...above.members]) };
}

function explainUnknown(name: string, known: readonly string[]): string {
  const nearest = known.length === 0 ? 'it has none' : `the nearest is "${findNearestName(name, known)}"`;
  return `this file has no policy "${name}"; ${nearest}`;
}

/** Compiles the entries of a policy that name models and their methods, such as `models` and `approve`. Pure. */
import { compileGlob } from '@erp-proxy/contract';
import { findUnknown } from '@erp-proxy/odoo';
import { compilePatterns, type Patterns } from './pattern.ts';

export interface ModelRule {
  /** e.g. `models["sale.*"]`, `approve["sale.*"]`. */
  readonly name: string;
  readonly pattern: string;
  matches(model: string): boolean;
  /** The methods that the rule names, without `*`. */
  readonly methods: Patterns;
  /** Whether `*` is one of the methods. */
  readonly hasStar: boolean;
  /** Whether the rule holds for the method of a model that it matches. */
  holdsFor(model: string, method: string): boolean;
}

/** `star`: the methods for which `*` stands. `member` is the member of the policy. */
export function compileModelRules(
  member: string,
  patterns: Record<string, string[]>,
  star: 'known' | 'all',
): ModelRule[] {
  return Object.entries(patterns).map(([pattern, methods]) => {
    const hasStar = methods.includes('*');
    const others = compilePatterns(methods.filter((method) => method !== '*'));
    return {
      name: `${member}[${JSON.stringify(pattern)}]`,
      pattern,
      matches: compileGlob(pattern),
      methods: others,
      hasStar,
      holdsFor: (model, method) =>
        others.find(method) !== undefined ||
        (hasStar && (star === 'all' || findUnknown(model, method) === null)),
    };
  });
}

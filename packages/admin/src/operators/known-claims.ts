/**
 * The claims of a person as they are stored at each sign-in and renewal: those that a rule asks for. The present rules
 * are applied to them later, when the provider is not asked. Pure.
 */
import { tryParse } from '@erp-proxy/contract';
import { type ClaimRule, type Claims, readClaim } from '@erp-proxy/control/tokens/issuers';
import type { OperatorProvider, RoleRule } from './parse-operators.ts';

/** The stored form. Values by the path of their claim. */
interface KnownClaims {
  /** See {@link OperatorProvider.claimsVersion}. */
  version: string;
  claims: Record<string, ReturnType<typeof readClaim>>;
}

export function printKnownClaims(
  { rules, claimsVersion }: Pick<OperatorProvider, 'rules' | 'claimsVersion'>,
  claims: Claims,
): string {
  const paths = rules.flatMap(({ claim }) => (claim === null ? [] : [claim]));
  const known: KnownClaims = {
    version: claimsVersion,
    claims: Object.fromEntries(paths.map((path) => [JSON.stringify(path), readClaim(claims, path)])),
  };
  return JSON.stringify(known);
}

/**
 * The rule that decides by the stored claims; null if none matches. `unknown`: the claims are those of another
 * provider, or a rule asks for one that was not stored, so that the person must sign in again.
 */
export function findRuleForKnown(
  { rules, claimsVersion }: Pick<OperatorProvider, 'rules' | 'claimsVersion'>,
  stored: string,
): RoleRule | null | 'unknown' {
  const known = tryParse(stored) as Partial<KnownClaims> | null | undefined;
  if (known?.version !== claimsVersion || known.claims === undefined) return 'unknown';
  for (const rule of rules) {
    const isMatch = matchesKnown(rule, known.claims);
    if (isMatch === null) return 'unknown';
    if (isMatch) return rule;
  }
  return null;
}

/** Null: the claim was not stored. */
function matchesKnown({ claim, isMatch }: ClaimRule, known: KnownClaims['claims']): boolean | null {
  if (claim === null) return true;
  const path = JSON.stringify(claim);
  return Object.hasOwn(known, path) ? known[path]!.some((value) => isMatch(value)) : null;
}

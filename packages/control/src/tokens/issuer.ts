/** The identity providers whose tokens are accepted, and the policies that tokens get. Pure. */

import type { EgressTrust } from '@erp-proxy/egress';
import type { CompiledPolicy } from '@erp-proxy/policy';

/** An identity provider, as `auth.issuers` describes it. */
export interface Issuer {
  /** Short name: the beginning of the id of each client, and the label in metrics. */
  readonly name: string;
  /** The claim `iss` of tokens of this provider, compared as text. */
  readonly url: string;
  /** The claim `aud` of a token must name one of these. */
  readonly audience: readonly string[];
  /** URL of the public keys; null: the OpenID configuration of the provider says it. */
  readonly jwksUrl: string | null;
  readonly algorithms: readonly string[];
  /** Tolerance for differences between clocks. */
  readonly clockSkewSeconds: number;
  /** Maximum lifetime of a token. A longer one is refused. */
  readonly maxLifetimeSeconds: number;
  /** Scopes that each token needs. */
  readonly scopes: readonly string[];
  /** Describes how the provider is reached; null: like any other server. */
  readonly trust: EgressTrust | null;
  readonly rules: readonly PolicyRule[];
}

/** The condition of a rule. */
export interface ClaimRule {
  /** Path of the claim; null: the rule matches every token. */
  readonly claim: readonly string[] | null;
  readonly isMatch: (value: ClaimValue) => boolean;
}

/** A rule that gives a policy to tokens with a claim. */
export interface PolicyRule extends ClaimRule {
  readonly policy: GrantedPolicy;
}

/** A policy and its JSON text, by which policies are compared. */
export interface GrantedPolicy {
  readonly compiled: CompiledPolicy;
  readonly text: string;
}

export type ClaimValue = string | number | boolean;
export type Claims = Readonly<Record<string, unknown>>;

/** The form of a subject, which appears in the log, the audit and names. OpenID Connect allows 255 ASCII characters. */
export const SUBJECT = /^[\x21-\x7e]{1,255}$/;

/** The first rule that matches the claims; null if none does. */
export function findRule<Rule extends ClaimRule>(rules: readonly Rule[], claims: Claims): Rule | null {
  return rules.find((rule) => matches(rule, claims)) ?? null;
}

/** The rules that match the claims, in their order. */
export function listRules<Rule extends ClaimRule>(rules: readonly Rule[], claims: Claims): Rule[] {
  return rules.filter((rule) => matches(rule, claims));
}

function matches({ claim, isMatch }: ClaimRule, claims: Claims): boolean {
  return claim === null || readClaim(claims, claim).some((value) => isMatch(value));
}

/** The required scopes that the token lacks. */
export function listMissingScopes({ scopes }: Pick<Issuer, 'scopes'>, claims: Claims): string[] {
  const given = [...readClaim(claims, ['scope']), ...readClaim(claims, ['scp'])];
  return scopes.filter((scope) => !given.includes(scope));
}

/** Claims that have several values in one text, separated by spaces (RFC 8693 section 4.2; `scp` is from Microsoft). */
const SEPARATED_CLAIMS = new Set(['scope', 'scp']);

/** The values of a claim: a single one, or the entries of a list. Objects and nested lists do not count. */
export function readClaim(claims: Claims, path: readonly string[]): ClaimValue[] {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
    value = (value as Claims)[name];
  }
  if (path.length === 1 && SEPARATED_CLAIMS.has(path[0]!) && typeof value === 'string') {
    return value.split(' ').filter((scope) => scope !== '');
  }
  return (Array.isArray(value) ? value : [value]).filter(isClaimValue);
}

function isClaimValue(value: unknown): value is ClaimValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

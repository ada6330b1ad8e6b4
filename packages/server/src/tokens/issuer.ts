/** The identity providers whose tokens are accepted, and which policy a token gets. Pure. */

import type { EgressTrust } from '@erp-proxy/egress';
import type { CompiledPolicy } from '@erp-proxy/policy';

/** An identity provider, as `auth.issuers` describes it. */
export interface Issuer {
  /** Short name. It begins the id of each client, and is the label of metrics. */
  readonly name: string;
  /** The claim `iss` of its tokens, compared as text. */
  readonly url: string;
  /** A token must be for one of these: its claim `aud` names it. */
  readonly audience: readonly string[];
  /** Where its public keys are; null: as its OpenID configuration says. */
  readonly jwksUrl: string | null;
  readonly algorithms: readonly string[];
  /** Tolerance for clocks that differ. */
  readonly clockSkewSeconds: number;
  /** Tokens that are valid for longer are refused. */
  readonly maxLifetimeSeconds: number;
  /** Each token needs all of them. */
  readonly scopes: readonly string[];
  /** How the provider is reached; null: like any other server. */
  readonly trust: EgressTrust | null;
  readonly rules: readonly PolicyRule[];
}

/** Gives a policy to tokens with a claim. */
export interface PolicyRule {
  /** Path of the claim; null: any token. */
  readonly claim: readonly string[] | null;
  readonly isMatch: (value: ClaimValue) => boolean;
  readonly policy: GrantedPolicy;
}

/** A policy with its JSON text, by which two of them are compared. */
export interface GrantedPolicy {
  readonly compiled: CompiledPolicy;
  readonly text: string;
}

export type ClaimValue = string | number | boolean;
export type Claims = Readonly<Record<string, unknown>>;

/** The first rule that matches; null if none does. */
export function findRule({ rules }: Pick<Issuer, 'rules'>, claims: Claims): PolicyRule | null {
  const found = rules.find(
    ({ claim, isMatch }) => claim === null || readClaim(claims, claim).some((value) => isMatch(value)),
  );
  return found ?? null;
}

/** The required scopes that the token does not have. */
export function listMissingScopes({ scopes }: Pick<Issuer, 'scopes'>, claims: Claims): string[] {
  const given = [...readClaim(claims, ['scope']), ...readClaim(claims, ['scp'])];
  return scopes.filter((scope) => !given.includes(scope));
}

/** Claims that have several values in one text, separated by blanks (RFC 8693 section 4.2; `scp` is Microsoft's). */
const SEPARATED_CLAIMS = new Set(['scope', 'scp']);

/** The values of a claim: one, or the entries of a list. Objects and nested lists are none. */
function readClaim(claims: Claims, path: readonly string[]): ClaimValue[] {
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

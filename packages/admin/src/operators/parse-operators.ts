/**
 * Parses the settings of the group `operators`, and reports all errors at once, each with the name of its setting.
 * Pure.
 */
import { hash } from 'node:crypto';
import { arePatterns, cutText, PATTERNS_RULE, ROLES, type Role } from '@erp-proxy/contract';
import { findCertificateError, trustOf } from '@erp-proxy/control/instances';
import { parseRules } from '@erp-proxy/control/tokens';
import type { ClaimRule } from '@erp-proxy/control/tokens/issuers';
import type { EgressTrust } from '@erp-proxy/egress';
import type { Members, Report } from '@erp-proxy/policy/parse';

export interface OperatorSettings {
  readonly issuer: string | null;
  readonly name: string;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  readonly sessionMinutes: number;
  readonly rules: readonly Members[];
  readonly allowPrivate: boolean;
  readonly certificates: string | null;
}

/** The identity provider of operators, and the roles that it gives. */
export interface OperatorProvider {
  /** Short name: the beginning of the id of each operator. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly sessionMs: number;
  readonly rules: readonly RoleRule[];
  /** How the provider is reached; null: like any other server. */
  readonly trust: EgressTrust | null;
  /** Identifies what decides who is who, so that a change of it ends the sessions that were started before. */
  readonly version: string;
  /** Identifies what decides what the claims of a person say, whatever the rules give for them. */
  readonly claimsVersion: string;
}

/** What a rule gives to a person. */
export interface Grant {
  readonly role: Role;
  /** Patterns of the names of the instances that the person may see and change; null: all. */
  readonly instances: readonly string[] | null;
}

export type RoleRule = ClaimRule & Grant;

const RULE_EXAMPLE = '{"claim": "groups", "value": "erp-admins", "role": "admin"}';

/** A rule with the text of its condition, by which equal conditions are found. */
type ReadRule = RoleRule & { readonly condition: string };

/**
 * `provider` null without errors: no operators are configured. `warnings` are about settings that work in another way
 * than they look.
 */
export function parseOperators(
  settings: OperatorSettings,
  issuers: readonly Members[],
): { provider: OperatorProvider | null; errors: string[]; warnings: string[] } {
  const { issuer, name, clientId, clientSecret, scopes, sessionMinutes, certificates, allowPrivate } =
    settings;
  const errors: string[] = [];
  const report: Report = (path, message) => void errors.push(`operators.${path}: ${message}`);
  if (issuer === null) {
    const given = Object.entries({ clientId, clientSecret }).filter(([, value]) => value !== null);
    const names = [...given.map(([member]) => member), ...(settings.rules.length > 0 ? ['rules'] : [])];
    for (const member of names) report(member, 'has no effect without operators.issuer: set it, too');
    return { provider: null, errors, warnings: [] };
  }
  if (clientId === null) report('clientId', 'is empty: give the id under which the provider knows the proxy');
  if (clientSecret === null) report('clientSecret', 'is empty: give the secret of this client');
  if (!scopes.includes('openid')) report('scopes', 'must have openid');
  const certificateError = certificates === null ? null : findCertificateError(certificates);
  if (certificateError !== null) report('certificates', certificateError);
  checkName(name, issuer, issuers, report);
  const read = parseRules<Grant & Pick<ReadRule, 'condition'>>(settings.rules, {
    path: 'rules',
    example: RULE_EXAMPLE,
    members: ['role', 'instances'],
    readGrant: (rule, at) => readGrant(rule, at, report),
    report,
  });
  if (errors.length > 0 || clientId === null || clientSecret === null) {
    return { provider: null, errors, warnings: [] };
  }
  const { rules, warnings } = settleContradictions(read);
  const provider: OperatorProvider = {
    name,
    issuer,
    clientId,
    clientSecret,
    scopes,
    sessionMs: sessionMinutes * 60_000,
    rules,
    trust: trustOf({ certificates, allowPrivate }),
    version: hash('sha256', JSON.stringify([name, issuer, clientId, settings.rules]), 'base64url'),
    claimsVersion: hash('sha256', JSON.stringify([name, issuer, clientId]), 'base64url'),
  };
  return { provider, errors, warnings };
}

/**
 * Operators, tokens and connections share the ids of persons. So one id must not mean two persons, nor one person have
 * two ids: a denial would then end only a part of what the person has.
 */
function checkName(name: string, issuer: string, issuers: readonly Members[], report: Report): void {
  for (const entry of issuers) {
    const isSameProvider = isSameIssuer(entry['issuer'], issuer);
    if (entry['name'] === name && !isSameProvider) {
      report('name', 'is that of another provider in auth.issuers: choose another name');
    }
    if (entry['name'] !== name && isSameProvider) {
      const other = cutText(String(entry['name']), 64);
      report(
        'name',
        `is ${name}, and auth.issuers calls the same provider ${other}: give both one name, because it begins the id of each person`,
      );
    }
  }
}

/** Providers differ in whether their name ends with a slash, and people in whether they write it. */
function isSameIssuer(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.replace(/\/+$/, '') === other.replace(/\/+$/, '');
}

/**
 * Among rules with the same condition, the one with the lowest role comes first, and so decides: the same people cannot
 * be meant to have both roles.
 */
function settleContradictions(read: readonly ReadRule[]): { rules: RoleRule[]; warnings: string[] } {
  const warnings: string[] = [];
  const rules = [...read];
  for (const group of Map.groupBy(read, ({ condition }) => condition).values()) {
    // Stable: rules with one role keep their order.
    const sorted = group.toSorted((one, other) => ROLES.indexOf(one.role) - ROLES.indexOf(other.role));
    const places = group.map((rule) => read.indexOf(rule));
    for (const [index, place] of places.entries()) rules[place] = sorted[index]!;
    const [lowest, highest] = [sorted[0]!.role, sorted.at(-1)!.role];
    if (lowest === highest) continue;
    const names = places.map((place) => `rules[${place}] (${read[place]!.role})`).join(' and ');
    warnings.push(
      `operators.${names} have the same condition and contradict each other: the lowest role, ${lowest}, decides. Remove all but one.`,
    );
  }
  return { rules, warnings };
}

function readGrant(
  { claim, value, pattern, role: given, instances }: Members,
  path: string,
  report: Report,
): (Grant & Pick<ReadRule, 'condition'>) | null {
  const role = ROLES.find((name) => name === given);
  if (role === undefined) report(`${path}.role`, `must be one of ${ROLES.join(', ')}`);
  const isLimited = instances !== undefined;
  if (isLimited && !arePatterns(instances)) report(`${path}.instances`, PATTERNS_RULE);
  if (role === undefined) return null;
  // A list that is not valid, which is reported, reaches nothing.
  const reached = isLimited ? (arePatterns(instances) ? instances : []) : null;
  const steps = typeof claim === 'string' ? [claim] : claim;
  return { role, instances: reached, condition: JSON.stringify([steps, value, pattern]) };
}

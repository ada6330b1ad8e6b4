/**
 * Parses the settings of the group `operators`, and reports all errors at once, each with the name of its setting.
 * Pure.
 */
import { hash } from 'node:crypto';
import { arePatterns, PATTERNS_RULE, ROLES, type Role } from '@erp-proxy/contract';
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
}

/** What a rule gives to a person. */
export interface Grant {
  readonly role: Role;
  /** Patterns of the names of the instances that the person may see and change; null: all. */
  readonly instances: readonly string[] | null;
}

export type RoleRule = ClaimRule & Grant;

const RULE_EXAMPLE = '{"claim": "groups", "value": "erp-admins", "role": "admin"}';

/** `provider` null without errors: no operators are configured. */
export function parseOperators(
  settings: OperatorSettings,
  issuers: readonly Members[],
): { provider: OperatorProvider | null; errors: string[] } {
  const { issuer, name, clientId, clientSecret, scopes, sessionMinutes, certificates, allowPrivate } =
    settings;
  const errors: string[] = [];
  const report: Report = (path, message) => void errors.push(`operators.${path}: ${message}`);
  if (issuer === null) {
    const given = Object.entries({ clientId, clientSecret }).filter(([, value]) => value !== null);
    const names = [...given.map(([member]) => member), ...(settings.rules.length > 0 ? ['rules'] : [])];
    for (const member of names) report(member, 'has no effect without operators.issuer: set it, too');
    return { provider: null, errors };
  }
  if (clientId === null) report('clientId', 'is empty: give the id under which the provider knows the proxy');
  if (clientSecret === null) report('clientSecret', 'is empty: give the secret of this client');
  if (!scopes.includes('openid')) report('scopes', 'must have openid');
  const certificateError = certificates === null ? null : findCertificateError(certificates);
  if (certificateError !== null) report('certificates', certificateError);
  // Operators and tokens share the list of denied subjects, so one id must not mean two persons.
  const other = issuers.find((entry) => entry['name'] === name && entry['issuer'] !== issuer);
  if (other !== undefined) report('name', 'is that of another provider in auth.issuers: choose another name');
  const rules = parseRules<Grant>(settings.rules, {
    path: 'rules',
    example: RULE_EXAMPLE,
    members: ['role', 'instances'],
    readGrant: (rule, at) => readGrant(rule, at, report),
    report,
  });
  if (errors.length > 0 || clientId === null || clientSecret === null) return { provider: null, errors };
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
  };
  return { provider, errors };
}

function readGrant({ role: given, instances }: Members, path: string, report: Report): Grant | null {
  const role = ROLES.find((name) => name === given);
  if (role === undefined) report(`${path}.role`, `must be one of ${ROLES.join(', ')}`);
  const isLimited = instances !== undefined;
  if (isLimited && !arePatterns(instances)) report(`${path}.instances`, PATTERNS_RULE);
  if (role === undefined) return null;
  // A list that is not valid, which is reported, reaches nothing.
  return { role, instances: isLimited ? (arePatterns(instances) ? instances : []) : null };
}

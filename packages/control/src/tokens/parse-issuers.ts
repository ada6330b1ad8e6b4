/**
 * Parses `auth.issuers` and `auth.policies` as an operator wrote them, and reports all errors at once, each with its
 * path. Guesses nothing: a rule that can never apply is an error.
 */

import { cutText, type Policy } from '@erp-proxy/contract';
import { compilePolicy } from '@erp-proxy/policy';
import {
  flag,
  type Members,
  parsePolicy,
  pathOfEntry,
  type Report,
  reportUnknownNames,
  texts,
} from '@erp-proxy/policy/parse';
import { findCertificateError, trustOf } from '../instances/trust.ts';
import type { GrantedPolicy, Issuer } from './issuer.ts';
import { parseRules } from './parse-rules.ts';

export interface AuthSettings {
  readonly issuers: readonly Members[];
  readonly policies: Members;
}

/** Algorithms of signatures that need the private key of the issuer. HMAC and `none` cannot be chosen. */
export const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const MEMBERS = [
  ...['name', 'issuer', 'audience', 'jwksUrl', 'algorithms', 'clockSkewSeconds', 'maxLifetimeSeconds'],
  ...['scopes', 'allowPrivate', 'certificates', 'rules'],
];
const RULE_EXAMPLE = '{"claim": "groups", "value": "sales", "policy": "sales"}';
const ISSUERS_MAX = 20;
const URL_LENGTH_MAX = 1000;
const DAY_SECONDS = 86_400;

/** The id of a client begins with the name of its issuer, and `/` separates it from the subject. */
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const NAME_RULE = 'must be 1 to 32 lower-case letters, digits and "-", such as corp';
/** The form of a scope (RFC 6749 section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const audienceKind = texts('', () => null);
const algorithmsKind = texts('', (text) =>
  ALGORITHMS.includes(text) ? null : `must be one of ${ALGORITHMS.join(', ')}`,
);
const scopesKind = texts('', (text) => (SCOPE.test(text) ? null : 'must be one scope, without blanks'));
const allowPrivateKind = flag('');

/** Each error is a line that begins with the name of the setting. */
export function parseIssuers({ issuers, policies }: AuthSettings): { issuers: Issuer[]; errors: string[] } {
  const errors: string[] = [];
  const report: Report = (path, message) => void errors.push(`auth.${path}: ${message}`);
  const named = new Map<string, GrantedPolicy | null>();
  for (const [name, value] of Object.entries(policies)) {
    named.set(name, readPolicy(value, pathOfEntry('policies', name), report));
  }
  if (issuers.length > ISSUERS_MAX) report('issuers', `may have at most ${ISSUERS_MAX} entries`);
  const read = issuers.map((given, index) => readIssuer(given, `issuers[${index}]`, named, report));
  for (const member of ['name', 'url'] as const) {
    const values = read.map((issuer) => issuer[member]);
    const second = values.findIndex((value, index) => value !== '' && values.indexOf(value) !== index);
    const given = member === 'url' ? 'issuer' : member;
    if (second !== -1) report(`issuers[${second}].${given}`, 'is that of another issuer');
  }
  return { issuers: errors.length > 0 ? [] : read, errors };
}

/** The policy with this name; null if there is none, or it is not valid. */
export function parseNamedPolicy(policies: Members, name: string): GrantedPolicy | null {
  return Object.hasOwn(policies, name) ? readPolicy(policies[name], '', () => {}) : null;
}

function readIssuer(
  given: Members,
  path: string,
  named: ReadonlyMap<string, GrantedPolicy | null>,
  report: Report,
): Issuer {
  reportUnknownNames(given, MEMBERS, `${path}.`, report);
  const at = (name: string) => `${path}.${name}`;
  const isGiven = (name: string) => given[name] !== undefined && given[name] !== null;
  const name = given['name'];
  if (typeof name !== 'string' || !NAME.test(name)) report(at('name'), NAME_RULE);
  const certificates = isGiven('certificates') ? given['certificates'] : null;
  if (certificates !== null) {
    const error =
      typeof certificates === 'string' ? findCertificateError(certificates) : 'must be a text in PEM';
    if (error !== null) report(at('certificates'), error);
  }
  const allowPrivate =
    isGiven('allowPrivate') && allowPrivateKind.read(given['allowPrivate'], at('allowPrivate'), report);
  return {
    name: typeof name === 'string' ? name : '',
    url: readUrl(given['issuer'], at('issuer'), report, { isQueryAllowed: false }),
    audience: isGiven('audience')
      ? (audienceKind.read(given['audience'], at('audience'), report) ?? [])
      : reportMissing(at('audience'), 'must list what tokens for this proxy have in `aud`', report),
    jwksUrl: isGiven('jwksUrl')
      ? readUrl(given['jwksUrl'], at('jwksUrl'), report, { isQueryAllowed: true })
      : null,
    algorithms: isGiven('algorithms')
      ? (algorithmsKind.read(given['algorithms'], at('algorithms'), report) ?? [])
      : ALGORITHMS,
    clockSkewSeconds: readSeconds(given['clockSkewSeconds'], at('clockSkewSeconds'), report, [0, 300, 60]),
    maxLifetimeSeconds: readSeconds(given['maxLifetimeSeconds'], at('maxLifetimeSeconds'), report, [
      60,
      30 * DAY_SECONDS,
      DAY_SECONDS,
    ]),
    scopes: isGiven('scopes') ? (scopesKind.read(given['scopes'], at('scopes'), report) ?? []) : [],
    trust: trustOf({
      certificates: typeof certificates === 'string' ? certificates : null,
      allowPrivate: allowPrivate === true,
    }),
    rules: parseRules(given['rules'], {
      path: at('rules'),
      example: RULE_EXAMPLE,
      members: ['policy'],
      readGrant(rule, at) {
        const policy = readGrant(rule['policy'], `${at}.policy`, named, report);
        return policy && { policy };
      },
      report,
    }),
  };
}

function reportMissing(path: string, message: string, report: Report): [] {
  report(path, message);
  return [];
}

/** Returns the text unchanged: a token names its issuer in the same characters. */
function readUrl(
  given: unknown,
  path: string,
  report: Report,
  { isQueryAllowed }: { isQueryAllowed: boolean },
): string {
  const url = typeof given === 'string' && given.length <= URL_LENGTH_MAX ? URL.parse(given) : null;
  const isPlain =
    (url?.protocol === 'https:' || url?.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    (isQueryAllowed || url.search === '');
  if (isPlain) return given as string;
  report(path, `must be an https URL without user${isQueryAllowed ? '' : ', query'} and fragment`);
  return '';
}

function readSeconds(
  given: unknown,
  path: string,
  report: Report,
  [min, max, initial]: [min: number, max: number, initial: number],
): number {
  if (given === undefined || given === null) return initial;
  if (Number.isInteger(given) && Number(given) >= min && Number(given) <= max) return Number(given);
  report(path, `must be a whole number of seconds from ${min} to ${max}`);
  return initial;
}

function readGrant(
  given: unknown,
  path: string,
  named: ReadonlyMap<string, GrantedPolicy | null>,
  report: Report,
): GrantedPolicy | null {
  if (typeof given !== 'string') return readPolicy(given, path, report);
  if (!named.has(given))
    report(path, `names a policy that auth.policies does not have: ${cutText(given, 64)}`);
  return named.get(given) ?? null;
}

function readPolicy(given: unknown, path: string, report: Report): GrantedPolicy | null {
  const parsed = parsePolicy(given);
  if ('errors' in parsed) {
    for (const error of parsed.errors)
      report(error.path === '' ? path : `${path}.${error.path}`, error.message);
    return null;
  }
  const policy: Policy = parsed.policy;
  if (policy.publishable === true) {
    report(
      `${path}.publishable`,
      'is for keys in the source of web pages, and no token is one: leave it out',
    );
    return null;
  }
  return { compiled: compilePolicy(policy), text: JSON.stringify(policy) };
}

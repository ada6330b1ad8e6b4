/**
 * Parses the settings of the group `signIn`, and reports all errors at once, each with the name of its setting. Returns
 * how persons sign in, and which policies their applications get. Pure.
 */
import { cutText } from '@erp-proxy/contract';
import type { Members } from '@erp-proxy/policy/parse';
import { INSTANCE_NAME } from '../instances/members.ts';
import type { Issuer } from './issuer.ts';
import { parseNamedPolicy } from './parse-issuers.ts';

export interface SignInSettings {
  readonly providers: readonly string[];
  readonly odoo: readonly string[];
  readonly odooPolicy: string | null;
  readonly days: number;
}

/** How persons sign in for applications. */
export interface SignIn {
  /** Address of the proxy, which is the issuer and the audience of its tokens. */
  readonly url: string;
  /** Names of the providers. */
  readonly providers: readonly string[];
  /** Names of the instances whose Odoo signs persons in. */
  readonly odoo: readonly string[];
  /** Time after which a person must agree again. */
  readonly consentMs: number;
  /** Who signs a person in, by the name with which the id of the person begins: the proxy, with their policies. */
  readonly issuers: ReadonlyMap<string, Issuer>;
}

export interface SignInSurroundings {
  publicUrl: string | null;
  /** Those of `auth.issuers`. */
  issuers: readonly Issuer[];
  /** The setting `auth.policies`. */
  policies: Members;
  /** Name of the provider of `operators`; null: none is set. */
  operators: string | null;
}

const DAY_MS = 86_400_000;
/** Maximum lifetime of a token that the proxy accepts from itself. */
const TOKEN_SECONDS_MAX = 86_400;
const CLOCK_SKEW_SECONDS = 60;

/** The name with which the ids of persons begin who sign in by this instance. */
export function nameOdooProvider(instance: string): string {
  return `odoo:${instance}`;
}

/** `signIn` null without errors: nobody can sign in for an application. */
export function parseSignIn(
  { providers, odoo, odooPolicy, days }: SignInSettings,
  { publicUrl, issuers, policies, operators }: SignInSurroundings,
): { signIn: SignIn | null; errors: string[] } {
  const errors: string[] = [];
  const report = (member: string, message: string) => void errors.push(`signIn.${member}: ${message}`);
  if (providers.length === 0 && odoo.length === 0) {
    if (odooPolicy !== null)
      report('odooPolicy', 'has no effect without signIn.odoo: name an instance there');
    return { signIn: null, errors };
  }
  if (publicUrl === null) {
    errors.push(
      'signIn is set, and http.publicUrl is empty: set it to the address under which applications and browsers reach the proxy.',
    );
    return { signIn: null, errors };
  }
  const url = publicUrl.replace(/\/$/, '');
  const own = new Map<string, Issuer>();
  if (providers.length > 1) {
    report('providers', 'has several names: the proxy is registered at one provider, that of operators.name');
  }
  for (const name of providers.length > 1 ? [] : providers) {
    const issuer = issuers.find((one) => one.name === name);
    const shown = JSON.stringify(cutText(name, 64));
    if (name !== operators) {
      report(
        'providers',
        `${shown} is not the name of the provider at which the proxy is registered (operators.name)`,
      );
    } else if (issuer === undefined) {
      report(
        'providers',
        `auth.issuers has no provider ${shown}, whose rules give the policies: add it there`,
      );
    } else {
      own.set(name, { ...issuer, ...describeOwn(url) });
    }
  }
  for (const name of odoo) {
    if (!INSTANCE_NAME.test(name))
      report('odoo', `${JSON.stringify(cutText(name, 64))} is not the name of an instance`);
  }
  if (odoo.length > 0) {
    const policy = odooPolicy === null ? null : parseNamedPolicy(policies, odooPolicy);
    if (odooPolicy === null)
      report('odooPolicy', 'is empty: name the policy in auth.policies that limits these persons');
    else if (policy === null)
      report(
        'odooPolicy',
        `auth.policies has no policy ${JSON.stringify(cutText(odooPolicy, 64))} that is valid`,
      );
    if (policy !== null) {
      const rules = [{ claim: null, isMatch: () => true, policy }];
      for (const name of odoo.map(nameOdooProvider)) own.set(name, { name, rules, ...describeOwn(url) });
    }
  }
  if (errors.length > 0) return { signIn: null, errors };
  return { signIn: { url, providers, odoo, consentMs: days * DAY_MS, issuers: own }, errors };
}

function describeOwn(url: string): Omit<Issuer, 'name' | 'rules'> {
  return {
    url,
    audience: [url],
    jwksUrl: null,
    algorithms: ['ES256'],
    clockSkewSeconds: CLOCK_SKEW_SECONDS,
    maxLifetimeSeconds: TOKEN_SECONDS_MAX,
    scopes: [],
    trust: null,
  };
}

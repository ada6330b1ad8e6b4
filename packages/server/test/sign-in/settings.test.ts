/** Settings of sign-ins that contradict each other are reported at the start, and by `config check`. */
import { expect, test } from 'vitest';
import { parseProviders } from '../../src/app/parse-providers.ts';
import { runCommand } from '../commands/run-command.ts';
import { makeSettings } from '../harness.ts';
import { describeOperators } from '../operators/scripted-provider.ts';

const PROVIDER = { url: 'https://login.example.com' };
const ISSUER = {
  name: 'corp',
  issuer: PROVIDER.url,
  audience: ['x'],
  rules: [{ policy: { instances: ['prod'], models: { 'res.partner': ['read'] } } }],
};
const POLICIES = JSON.stringify({ own: ISSUER.rules[0]!.policy });
const WITH_PROVIDER = describeOperators(PROVIDER, { 'auth.issuers': JSON.stringify([ISSUER]) });
const URL_ONLY = { 'http.publicUrl': 'https://erp.example.com/' };

const parse = (settings: Record<string, string>) => parseProviders(makeSettings(settings));

test.each([
  ['no address', { 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'own' }, 'http.publicUrl is empty'],
  ['no provider', { ...URL_ONLY, 'signIn.providers': 'corp' }, 'signIn.providers: "corp" is not the name'],
  [
    'a provider without policies',
    { ...describeOperators(PROVIDER), 'signIn.providers': 'corp' },
    'signIn.providers: auth.issuers has no provider "corp"',
  ],
  ['another provider', { ...WITH_PROVIDER, 'signIn.providers': 'crop' }, '"crop" is not the name'],
  ['a provider twice', { ...WITH_PROVIDER, 'signIn.providers': 'corp,corp' }, 'has several names'],
  ['no policy', { ...URL_ONLY, 'signIn.odoo': 'prod' }, 'signIn.odooPolicy: is empty'],
  [
    'an unknown policy',
    { ...URL_ONLY, 'signIn.odoo': 'prod', 'signIn.odooPolicy': 'constructor', 'auth.policies': POLICIES },
    'auth.policies has no policy "constructor"',
  ],
  ['a policy for nobody', { 'signIn.odooPolicy': 'own' }, 'has no effect without signIn.odoo'],
])('%s is an error', (_, settings, error) => {
  const { signIn, errors } = parse(settings);
  expect(signIn).toBeNull();
  expect(errors).toEqual([expect.stringContaining(error)]);
});

test('a person of a provider and one of Odoo have the policies of their settings', () => {
  const both = {
    ...WITH_PROVIDER,
    ...URL_ONLY,
    'signIn.providers': 'corp',
    'signIn.odoo': 'prod,test',
    'signIn.odooPolicy': 'own',
    'auth.policies': POLICIES,
    'signIn.days': '7',
  };
  const { signIn, errors } = parse(both);
  expect(errors).toEqual([]);
  expect(signIn).toMatchObject({ url: 'https://erp.example.com', consentMs: 7 * 86_400_000 });
  expect([...signIn!.issuers.keys()]).toEqual(['corp', 'odoo:prod', 'odoo:test']);
  expect(parse(WITH_PROVIDER).signIn).toBeNull();
});

test('`config check` reports them', async () => {
  const { status, stderr } = await runCommand(['config', 'check', '--signIn.odoo=prod'], { folder: '/' });
  expect(status).toBe(2);
  expect(stderr).toContain('http.publicUrl is empty');
});

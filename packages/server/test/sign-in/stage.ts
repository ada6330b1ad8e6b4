/**
 * For tests: a proxy at which persons sign in for applications, by a scripted provider whose answers tests choose, and
 * a sandbox Odoo with an instance for persons.
 */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createVault } from '@erp-proxy/control/instances';
import { type Sandbox, type SandboxUser, startSandbox, type Version } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import {
  describeOperators,
  type ScriptedProvider,
  startScriptedProvider,
} from '../operators/scripted-provider.ts';
import type { SigningKey } from '../tokens/issuer.ts';
import { Application, Browser, type Json, postJson, type Visited } from './application.ts';

export const ADMIN_TOKEN = 'admin-token-of-the-tests-of-sign-ins';
const MASTER_KEY = randomBytes(32).toString('base64');
const POLICY = {
  instances: ['prod'],
  models: { '*': ['*', 'read', 'search*', 'context_get', 'fields_get'] },
};

export interface StageOptions extends ProxyOptions {
  version?: Version;
  /** Claims of rules of `auth.issuers`. Default: every person gets the policy. */
  rules?: object[];
  provider?: ScriptedProvider;
  /** False: nobody signs in by a provider. */
  hasProvider?: boolean;
}

export interface Stage {
  proxy: RunningProxy;
  /** Address of the proxy. */
  url: string;
  provider: ScriptedProvider;
  sandbox: Sandbox;
  admin(method: string, path: string): Promise<{ status: number; json: Json }>;
}

/** A port that nothing uses, for a proxy that must know its own address. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startStage({
  version = 18,
  rules,
  provider,
  hasProvider = true,
  ...options
}: StageOptions = {}): Promise<Stage> {
  const sandbox = closeAfterTest(await startSandbox({ version }));
  const used = provider ?? (await startScriptedProvider());
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const proxy = closeAfterTest(
    await startProxy({
      ...options,
      settings: {
        ...(hasProvider ? describeProvider(used, rules) : {}),
        'http.port': String(port),
        'http.publicUrl': url,
        'auth.policies': JSON.stringify({ own: POLICY }),
        'upstream.protocol': 'auto',
        'vault.masterKey': MASTER_KEY,
        'admin.token': ADMIN_TOKEN,
        ...options.settings,
      },
    }),
  );
  if ((await proxy.app.instances.find('prod')) === null) {
    const input = { name: 'prod', url: sandbox.url, db: sandbox.db, allow_private: true };
    await proxy.app.instances.add({ ...input, identity: 'person' });
  }
  return {
    proxy,
    url,
    provider: used,
    sandbox,
    async admin(method, path) {
      const answer = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      const text = await answer.text();
      return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
    },
  };
}

function describeProvider(provider: ScriptedProvider, rules: object[] = [{ policy: 'own' }]) {
  const issuer = { name: 'corp', issuer: provider.url, audience: ['somebody else'], allowPrivate: true };
  return describeOperators(provider, {
    'auth.issuers': JSON.stringify([{ ...issuer, rules }]),
    'signIn.providers': 'corp',
  });
}

/** Signs in at the provider. Returns the page with the question. */
export async function signIn({ url, provider }: Stage, browser: Browser, address: string): Promise<Visited> {
  browser.stopsAt.push(provider.url);
  const { url: asked } = await browser.go(address);
  return browser.go(answerOfProvider(url, new URL(asked).searchParams));
}

/** The address at which the provider sends the browser back. Its code is the nonce. */
export function answerOfProvider(url: string, asked: URLSearchParams): string {
  const parameters = { code: asked.get('nonce') ?? '', state: asked.get('state') ?? '' };
  return `${url}/admin/v1/session/callback?${new URLSearchParams(parameters)}`;
}

/** Stores the connection of a person, as if the person had connected. */
export async function connect(
  { proxy }: Pick<Stage, 'proxy'>,
  person: string,
  user: SandboxUser,
): Promise<void> {
  const instance = await proxy.app.instances.find('prod');
  await proxy.app.connections.put(instance!, { person, ...user, keyExpiresAt: null });
}

/** An application that is registered and allowed, with its tokens. Further members are parameters of its request. */
export async function allow(
  stage: Stage,
  {
    application = new Application(stage.url),
    ...parameters
  }: { application?: Application; scope?: string; resource?: string } = {},
) {
  if (application.clientId === '') await application.register();
  const browser = new Browser();
  browser.stopsAt.push(application.redirectUri);
  const page = await signIn(stage, browser, application.address(parameters));
  const end = await browser.submit(page, { answer: 'allow' });
  const { status, json } = await application.takeCode(end.url);
  if (status !== 200) throw new Error(JSON.stringify([end, json]));
  return { application, browser, page, end, tokens: json as { access_token: string; refresh_token: string } };
}

/** Asks Odoo by a call with a token. */
export function call({ url }: Pick<Stage, 'url'>, token: string) {
  const question = {
    id: 1,
    action: 'context_get',
    model_id: 'res.users',
    params: [],
    keyword: {},
    erp_instance: { name: 'prod' },
  };
  return postJson(`${url}/api/erp/execute`, question, { authorization: `Bearer ${token}` });
}

/** Lists the tools for agents with a token. */
export function listTools({ url }: Pick<Stage, 'url'>, token: string) {
  return postJson(
    `${url}/mcp`,
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { authorization: `Bearer ${token}`, accept: 'application/json' },
  );
}

/** The public keys of the proxy. */
export async function readKeys(url: string): Promise<Json[]> {
  const { keys } = (await (await fetch(`${url}/oauth/jwks`)).json()) as { keys: Json[] };
  return keys;
}

/** The key with which the proxy signs tokens. Only who has the master key can open it. */
export async function openSigningKey({ proxy }: Pick<Stage, 'proxy'>): Promise<SigningKey> {
  const [stored] = await proxy.app.store.signInObjects.list('signing-key');
  const kid = stored!.id;
  const vault = createVault({ masterKey: MASTER_KEY, otherMasterKeys: [] })!;
  const jwk = JSON.parse(vault.open(stored!.body, JSON.stringify(['signing key', kid])));
  return { kid, alg: 'ES256', privateKey: createPrivateKey({ key: jwk, format: 'jwk' }), jwk };
}

/** The claims of a token, unverified. */
export function readClaims(token: string): Json {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

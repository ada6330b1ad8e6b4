/** Starts a sandbox Odoo and a proxy with an instance for persons, whose tokens an issuer signs. */
import { randomBytes } from 'node:crypto';
import type { InstanceInput } from '@erp-proxy/contract';
import { type SandboxUser, startSandbox, type Version } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, type ProxyOptions, send, startProxy } from '../harness.ts';
import { type Script, startUpstream, type UpstreamRequest } from '../scripted-upstream.ts';
import { describeIssuer, makeClaims, makeKey, READER, signToken, startIssuer } from '../tokens/issuer.ts';

export const PUBLIC_URL = 'https://erp.example.com/gateway';
export const MASTER_KEY = randomBytes(32).toString('base64');
const key = makeKey('first');

/** An answer with its parsed body. Untyped, because tests verify its shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
export type Answer = { status: number; headers: HttpAnswer['headers']; json: any; text: string };

export interface StageOptions extends ProxyOptions {
  version?: Version;
  instance?: Partial<InstanceInput>;
  /** Changes of the issuer. */
  issuer?: Record<string, unknown>;
}

export async function startStage({ version = 18, instance, issuer: changes, ...options }: StageOptions = {}) {
  const sandbox = closeAfterTest(await startSandbox({ version }));
  const issuer = closeAfterTest(await startIssuer([key]));
  const proxy = closeAfterTest(
    await startProxy({
      ...options,
      settings: {
        'auth.issuers': JSON.stringify([
          describeIssuer(issuer, {
            rules: [{ policy: { ...READER, read_only: false, models: ALL, cache: true } }],
            ...changes,
          }),
        ]),
        'http.publicUrl': PUBLIC_URL,
        'upstream.protocol': 'auto',
        'vault.masterKey': MASTER_KEY,
        'admin.token': ADMIN_TOKEN,
        ...options.settings,
      },
    }),
  );
  const input = { name: 'prod', url: sandbox.url, db: sandbox.db, allow_private: true };
  await proxy.app.instances.add({ ...input, identity: 'person', ...instance });

  const token = (sub: string, more: Record<string, unknown> = {}) =>
    signToken(key, makeClaims(issuer, Date.now(), { sub, ...more }));

  /** Sends a request as a person (`sub` of a token), or with these headers. */
  async function ask(
    method: string,
    path: string,
    as: string | Record<string, string>,
    body?: unknown,
  ): Promise<Answer> {
    const headers: Record<string, string> =
      typeof as === 'string' ? { authorization: `Bearer ${token(as)}` } : as;
    const answer = await send(proxy.url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = answer.body.toString();
    return { ...answer, text, json: text === '' ? null : JSON.parse(text) };
  }

  return {
    sandbox,
    issuer,
    proxy,
    token,
    ask,
    connect: (sub: string, { login, apiKey }: Pick<SandboxUser, 'login' | 'apiKey'>) =>
      ask('POST', '/me/connections/prod', sub, { login, api_key: apiKey }),
    call: (as: string | Record<string, string>, call: Record<string, unknown> = {}) =>
      ask('POST', '/api/erp/execute', as, { ...READ_ME, ...call }),
    admin: (method: string, path: string, body?: unknown) =>
      ask(method, `/admin/v1${path}`, { authorization: `Bearer ${ADMIN_TOKEN}` }, body),
  };
}

/**
 * The same proxy in front of a scripted upstream, to which nobody can connect: `put` stores connections as they are.
 * The key of a person is `key-of-<name>`, unless another one is given.
 */
export async function startScripted(
  script: Script,
  options: Pick<StageOptions, keyof ProxyOptions | 'instance' | 'issuer'> = {},
) {
  const upstream = closeAfterTest(await startUpstream(script));
  const stage = await startStage({
    ...options,
    instance: { url: upstream.url, db: 'prod', protocol: 'jsonrpc', ...options.instance },
    settings: { 'upstream.protocol': 'jsonrpc', ...options.settings },
  });
  const { instances, connections } = stage.proxy.app;
  return {
    ...stage,
    upstream,
    async put(sub: string, changes: { userId?: number; apiKey?: string } = {}) {
      const user = { userId: 7, apiKey: `key-of-${sub}`, ...changes };
      const instance = await instances.find('prod');
      await connections.put(instance!, { person: `corp/${sub}`, login: sub, keyExpiresAt: null, ...user });
    },
    remove: (sub: string) => connections.remove({ instance: 'prod', person: `corp/${sub}` }),
  };
}

/** The user and the key with which Odoo got a call. */
export function readSender({ body }: UpstreamRequest): { userId: number; apiKey: string } {
  const [, userId, apiKey] = JSON.parse(body.toString()).params.args;
  return { userId, apiKey };
}

export const ADMIN_TOKEN = 'admin-token-of-the-test-of-persons';
const ALL = { '*': ['*', 'read', 'search*', 'create', 'write', 'context_get'] };

/** Asks Odoo who runs the call. */
const READ_ME = {
  id: 1,
  action: 'context_get',
  model_id: 'res.users',
  params: [],
  keyword: {},
  erp_instance: { name: 'prod' },
};

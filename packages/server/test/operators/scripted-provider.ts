/** For tests: an identity provider whose answers tests choose, and a browser without a window. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, type Proxy as RunningProxy, send } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import { makeKey, type SigningKey, signToken } from '../tokens/issuer.ts';

type Members = Record<string, unknown>;

export const CLIENT_ID = 'erp-proxy';
export const CLIENT_SECRET = 'secret-of-the-proxy-at-its-provider';
export const PUBLIC_URL = 'https://erp.example.com';
/** Over TLS, and for the whole host. */
export const SESSION_COOKIE = '__Host-ep_session';
const RULES = [
  { claim: 'groups', value: 'erp-admins', role: 'admin' },
  { claim: 'groups', pattern: 'erp-*', role: 'viewer' },
];

export interface ScriptedProvider {
  url: string;
  key: SigningKey;
  /** Claims that replace those of the next id tokens. */
  claims: Members;
  /** Members of the OpenID configuration beside the usual ones. */
  metadata: Members;
  userInfo: Members;
  /** Requests for tokens so far. */
  asked: URLSearchParams[];
  /** The refresh tokens that are accepted. Each is accepted once. */
  refreshTokens: Set<string>;
  issuesRefreshTokens: boolean;
  /** The end of each refresh token. */
  padding: string;
  /** The refresh tokens that were revoked. */
  revoked: string[];
  /** Replaces the answer to requests for tokens. */
  answer: (() => { status: number; body: object }) | null;
  /** True: the provider breaks every connection. */
  isAway: boolean;
  /** Seconds since 1970 at which id tokens are issued. */
  now: () => number;
}

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  let nonce = '';
  const server = createServer(async (request, response) => {
    if (provider.isAway) return request.socket.destroy();
    const path = request.url ?? '';
    const answer = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (path === '/.well-known/openid-configuration') {
      return answer({
        issuer: provider.url,
        authorization_endpoint: `${provider.url}/authorize`,
        token_endpoint: `${provider.url}/token`,
        revocation_endpoint: `${provider.url}/revoke`,
        jwks_uri: `${provider.url}/jwks`,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
        code_challenge_methods_supported: ['S256'],
        ...provider.metadata,
      });
    }
    if (path === '/userinfo') return answer(provider.userInfo);
    if (path === '/jwks') return answer({ keys: [provider.key.jwk] });
    const parameters = new URLSearchParams(await text(request));
    if (path === '/revoke') {
      provider.revoked.push(parameters.get('token') ?? '');
      return answer({});
    }
    provider.asked.push(parameters);
    if (provider.answer !== null) {
      const { status, body } = provider.answer();
      return answer(body, status);
    }
    const refreshToken = parameters.get('refresh_token');
    if (refreshToken !== null && !provider.refreshTokens.delete(refreshToken)) {
      return answer({ error: 'invalid_grant' }, 400);
    }
    // As the code, tests give the nonce of the sign-in.
    if (refreshToken === null) nonce = parameters.get('code') ?? '';
    const next = `refresh-${provider.asked.length}${provider.padding}`;
    if (provider.issuesRefreshTokens) provider.refreshTokens.add(next);
    const now = provider.now();
    const claims = {
      iss: provider.url,
      aud: CLIENT_ID,
      sub: 'ada',
      name: 'Ada Lovelace',
      groups: ['erp-admins'],
      nonce,
      iat: now,
      exp: now + 600,
      ...provider.claims,
    };
    const idToken = signToken(provider.key, claims, { typ: 'JWT' });
    return answer({
      access_token: 'access',
      token_type: 'Bearer',
      id_token: idToken,
      ...(provider.issuesRefreshTokens ? { refresh_token: next } : {}),
    });
  });
  const port = await listenOnFreePort(server);
  closeAfterTest({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  const provider: ScriptedProvider = {
    url: `http://127.0.0.1:${port}`,
    key: makeKey('first'),
    claims: {},
    metadata: {},
    userInfo: {},
    asked: [],
    refreshTokens: new Set(),
    issuesRefreshTokens: true,
    padding: '',
    revoked: [],
    answer: null,
    isAway: false,
    now: () => Math.floor(Date.now() / 1000),
  };
  return provider;
}

/** Settings of a proxy whose operators sign in by the provider. */
export function describeOperators(
  { url }: { url: string },
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    'http.publicUrl': PUBLIC_URL,
    'operators.issuer': url,
    'operators.name': 'corp',
    'operators.clientId': CLIENT_ID,
    'operators.clientSecret': CLIENT_SECRET,
    'operators.allowPrivate': 'true',
    'operators.rules': JSON.stringify(RULES),
    ...more,
  };
}

/** Keeps cookies, and asks proxies in place of the public address. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #proxy: Pick<RunningProxy, 'url'>;

  constructor(proxy: Pick<RunningProxy, 'url'>) {
    this.#proxy = proxy;
  }

  /** `path` is below the address of the proxy. */
  async ask(
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
      proxy = this.#proxy,
    }: {
      method?: string;
      headers?: Record<string, string>;
      body?: string;
      proxy?: Pick<RunningProxy, 'url'>;
    } = {},
  ): Promise<HttpAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(proxy.url + path, {
      method,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Begins a sign-in. Returns the parameters of the request to the provider. */
  async start(returnTo?: string): Promise<URLSearchParams> {
    const query = returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`;
    const { headers } = await this.ask(`/admin/v1/session/start${query}`);
    return new URL(String(headers.location)).searchParams;
  }

  /** The answer of the provider: its path, whose code is the nonce. */
  answer(asked: URLSearchParams, changes: Record<string, string> = {}): string {
    const code = asked.get('nonce') ?? '';
    return `/admin/v1/session/callback?${new URLSearchParams({ code, state: asked.get('state') ?? '', ...changes })}`;
  }

  /** Signs in. Returns the address that the browser is sent to. */
  async signIn(returnTo?: string): Promise<string> {
    const { headers } = await this.ask(this.answer(await this.start(returnTo)));
    return String(headers.location);
  }

  async session(proxy?: Pick<RunningProxy, 'url'>) {
    const { status, body } = await this.ask('/admin/v1/session', proxy === undefined ? {} : { proxy });
    return { status, json: JSON.parse(body.toString()) };
  }
}

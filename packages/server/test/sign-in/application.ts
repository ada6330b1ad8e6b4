/** For tests: a browser without a window, and an application that speaks OAuth by hand. */
import { createHash, randomBytes } from 'node:crypto';
import { type HttpAnswer, send } from '../harness.ts';

const FORM = 'application/x-www-form-urlencoded';

interface Cookie {
  name: string;
  value: string;
  path: string;
  host: string;
}

/** Keeps cookies by their paths, as browsers do, and follows redirects. */
export class Browser {
  cookies: Cookie[] = [];
  /** Redirects to addresses that begin so are not followed. */
  readonly stopsAt: string[] = [];
  /** Where a request goes in place of its address, as behind a load balancer. */
  route: (url: string) => string = (url) => url;

  async ask(
    url: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<HttpAnswer> {
    const { host, pathname } = new URL(url);
    const fitting = this.cookies.filter(
      (cookie) => cookie.host === host && `${pathname}/`.startsWith(cookie.path.replace(/\/?$/, '/')),
    );
    const cookie = fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
    const answer = await send(this.route(url), {
      ...options,
      headers: { ...(cookie === '' ? {} : { cookie }), accept: 'text/html', ...options.headers },
    });
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      const path = /; *path=([^;]+)/i.exec(text)?.[1] ?? pathname.replace(/\/[^/]*$/, '/');
      const others = this.cookies.filter((it) => it.name !== name || it.path !== path || it.host !== host);
      const isEnd = value === '' || /expires=Thu, 01 Jan 1970/i.test(text);
      this.cookies = isEnd ? others : [...others, { name, value, path, host }];
    }
    return answer;
  }

  /** Follows redirects to a page, or to an address where it stops. */
  async go(url: string, options: Parameters<Browser['ask']>[1] = {}): Promise<Visited> {
    let address = url;
    let given = options;
    for (let steps = 0; steps < 20; steps++) {
      const end = this.stopsAt.find((start) => address.startsWith(start));
      if (end !== undefined) return { url: address, status: 0, text: '' };
      const { status, headers, body } = await this.ask(address, given);
      given = {};
      if (status < 300 || status >= 400) return { url: address, status, text: body.toString() };
      address = new URL(String(headers.location), address).href;
    }
    throw new Error('redirected without end');
  }

  /** Sends a form of a page that this browser shows. `headers`: changes. */
  submit(
    page: Visited,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Visited> {
    const hidden = [...page.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
    const body = new URLSearchParams({
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
      ...fields,
    });
    const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(page.text) ?? [];
    return this.go(action, {
      method: 'POST',
      headers: {
        'content-type': FORM,
        'sec-fetch-site': 'same-origin',
        origin: new URL(action).origin,
        ...headers,
      },
      body: body.toString(),
    });
  }
}

export interface Visited {
  /** The address at the end. */
  url: string;
  /** 0: the browser stopped there. */
  status: number;
  text: string;
}

/** Untyped, because tests verify the shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
export type Json = any;

export interface JsonAnswer extends HttpAnswer {
  json: Json;
}

/** An application that has registered itself, with the tokens that it has got. */
export class Application {
  readonly proxy: string;
  readonly redirectUri: string;
  readonly state = randomBytes(8).toString('hex');
  readonly verifier = randomBytes(32).toString('base64url');
  clientId = '';

  constructor(proxy: string, redirectUri = 'https://app.example.com/callback') {
    this.proxy = proxy;
    this.redirectUri = redirectUri;
  }

  async register(more: object = {}): Promise<JsonAnswer> {
    const answer = await postJson(`${this.proxy}/oauth/register`, {
      client_name: 'Assistant',
      redirect_uris: [this.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      ...more,
    });
    this.clientId = answer.json.client_id ?? '';
    return answer;
  }

  /** The address that begins a sign-in. A parameter that is null is left out. */
  address(changes: Record<string, string | null> = {}): string {
    const parameters: Record<string, string | null> = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      state: this.state,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${this.proxy}/mcp`,
      ...changes,
    };
    const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${this.proxy}/oauth/authorize?${new URLSearchParams(given)}`;
  }

  /** Asks for tokens with the code in the address to which the browser was sent. */
  takeCode(url: string, changes: Record<string, string> = {}): Promise<JsonAnswer> {
    return this.askToken({
      grant_type: 'authorization_code',
      code: new URL(url).searchParams.get('code') ?? '',
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      ...changes,
    });
  }

  refresh(token: string, changes: Record<string, string> = {}): Promise<JsonAnswer> {
    return this.askToken({ grant_type: 'refresh_token', refresh_token: token, ...changes });
  }

  /** Ends what a token can do. */
  revoke(token: string): Promise<HttpAnswer> {
    return send(`${this.proxy}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: new URLSearchParams({ client_id: this.clientId, token }).toString(),
    });
  }

  async askToken(parameters: Record<string, string>, proxy = this.proxy): Promise<JsonAnswer> {
    const answer = await send(`${proxy}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: new URLSearchParams({ client_id: this.clientId, ...parameters }).toString(),
    });
    return { ...answer, json: JSON.parse(answer.body.toString()) };
  }
}

export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const answer = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = answer.body.toString();
  return { ...answer, json: text === '' ? null : JSON.parse(text) };
}

/**
 * A client of the admin API with a proxy of its own. It checks every answer: status and shape as in the OpenAPI
 * document, problems for errors, `no-store`, and no secret.
 */

import { problem } from '@erp-proxy/contract/admin';
import { ADMIN_PATH, ADMIN_ROUTES, type AdminRoute } from '@erp-proxy/http/admin/table';
import { renderOpenapi } from '@erp-proxy/http/openapi';
import { expect } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, type ProxyOptions, send, startProxy } from '../harness.ts';

export const TOKEN = 'the-admin-token-of-these-tests-0123456789';
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
export const SETTINGS = { 'admin.token': TOKEN, 'vault.masterKey': MASTER_KEY };
/** Beginning of the Odoo keys in tests. No answer may contain it. */
export const ODOO_SECRET = 'odoo-secret-';

// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
export type Json = any;

export interface AdminAnswer extends HttpAnswer {
  json: Json;
}

export interface AskOptions {
  /** A text is sent unchanged, any other value as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Null: no token is sent. */
  token?: string | null;
}

type Method = AdminRoute['method'] | 'PUT' | 'OPTIONS';

export interface AdminOptions extends ProxyOptions {
  /** Further texts that no answer may contain. */
  secrets?: readonly string[];
}

export async function startAdmin({ secrets = [], settings = SETTINGS, ...options }: AdminOptions = {}) {
  const proxy = closeAfterTest(await startProxy({ ...options, settings }));
  const ask = async (method: Method, path: string, given: AskOptions = {}): Promise<AdminAnswer> => {
    const { body, headers = {}, token = TOKEN } = given;
    const answer = await send(`${proxy.url}${ADMIN_PATH}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { ...answer, json: readAnswer(answer, method, path, secrets) };
  };
  return {
    proxy,
    ask,
    get: (path: string, given?: AskOptions) => ask('GET', path, given),
    post: (path: string, body?: unknown, given?: AskOptions) => ask('POST', path, { body, ...given }),
    patch: (path: string, body?: unknown, given?: AskOptions) => ask('PATCH', path, { body, ...given }),
    remove: (path: string, given?: AskOptions) => ask('DELETE', path, given),
    /** Administrative actions in the audit so far, oldest first, without logins, which any request adds. */
    async listAdminActions(): Promise<Json[]> {
      const { json } = await ask('GET', '/audit?kind=admin&limit=500');
      return json.items.filter(({ action }: Json) => !/^log(in|out)\./.test(action)).toReversed();
    },
  };
}

function readAnswer(answer: HttpAnswer, method: Method, url: string, secrets: readonly string[]): Json {
  const text = answer.body.toString();
  for (const secret of [ODOO_SECRET, TOKEN, MASTER_KEY, ...secrets]) expect(text).not.toContain(secret);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  const route = findRoute(method, url.split('?', 1)[0] ?? '');
  if (route) expect(listStatuses(route)).toContain(answer.status);
  const type = answer.headers['content-type']?.split(';')[0];
  if (type === undefined || (type !== 'application/json' && answer.status < 300)) return undefined;
  const json = JSON.parse(text);
  if (answer.status >= 400) {
    expect(type).toBe('application/problem+json');
    expect(json.status).toBe(answer.status);
    expect(problem.parse(json)).toEqual(json);
  } else {
    expect(route?.answer.schema?.parse(json)).toEqual(json);
  }
  return json;
}

function findRoute(method: string, path: string): AdminRoute | undefined {
  return ADMIN_ROUTES.find(
    (route) =>
      route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
  );
}

const document: Json = await renderOpenapi('1.2.3');

function listStatuses(route: AdminRoute): number[] {
  const path = `${ADMIN_PATH}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
  return Object.keys(document.paths[path][route.method.toLowerCase()].responses).map(Number);
}

/**
 * Starts a proxy in front of sandboxes and scripted upstreams, and calls it as clients of ODXProxy do. All are closed
 * after each test.
 */
import { type SandboxOptions, startSandbox } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import {
  type HttpAnswer,
  type ProxyOptions,
  type Proxy as RunningProxy,
  send,
  startProxy,
} from '../harness.ts';
import { type Script, startUpstream } from '../scripted-upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
type Answer = any;

export interface Gateway {
  proxy: RunningProxy;
  /** POSTs JSON with the client key in `x-api-key`. Headers that are null are left out. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string | null>,
  ): Promise<HttpAnswer & { json: Answer }>;
}

/** `upstream.protocol` is `auto`, as by default. */
export async function startGateway(urls: string[], options: ProxyOptions = {}): Promise<Gateway> {
  const settings = { 'upstream.protocol': 'auto', ...options.settings };
  const proxy = closeAfterTest(await startProxy({ ...options, allow: urls, settings }));
  return {
    proxy,
    async post(path, body, headers = {}) {
      const all = { 'x-api-key': proxy.key, 'content-type': 'application/json', ...headers };
      const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
      const answer = await send(proxy.url + path, {
        method: 'POST',
        headers: Object.fromEntries(given),
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { ...answer, json: JSON.parse(answer.body.toString()) };
    },
  };
}

/** Starts a sandbox with the proxy in front of it. `makeCall` makes calls in the name of its administrator. */
export async function startOdoo(version: NonNullable<SandboxOptions['version']>, options: ProxyOptions = {}) {
  const sandbox = closeAfterTest(await startSandbox({ version }));
  const gateway = await startGateway([sandbox.url], options);
  const { userId, apiKey } = sandbox.users.admin;
  const json2Instance = { url: sandbox.url, db: sandbox.db, api_key: apiKey };
  const instance = { ...json2Instance, user_id: userId };
  return {
    ...gateway,
    sandbox,
    instance,
    makeCall: (changes: Record<string, unknown> = {}) => ({
      id: '01JD8PXM3R',
      action: 'search_count',
      model_id: 'res.partner',
      params: [[['is_company', '=', true]]],
      keyword: {},
      odoo_instance: instance,
      ...changes,
    }),
    makeJson2Call: (changes: Record<string, unknown> = {}) => ({
      id: '01JD8PXM3R',
      model_id: 'res.partner',
      method: 'search_count',
      kwargs: { domain: [['is_company', '=', true]] },
      odoo_instance: json2Instance,
      ...changes,
    }),
  };
}

/** Starts a scripted upstream with the proxy in front of it. */
export async function startScripted(script: Script, options: ProxyOptions = {}) {
  const upstream = closeAfterTest(await startUpstream(script));
  const gateway = await startGateway([upstream.url], {
    ...options,
    settings: { 'upstream.protocol': 'jsonrpc', ...options.settings },
  });
  const api_key = '0123456789abcdef0123456789abcdef01234567';
  return {
    ...gateway,
    upstream,
    call: {
      id: '1',
      action: 'read',
      model_id: 'res.partner',
      params: [[1]],
      odoo_instance: { url: upstream.url, db: 'prod', user_id: 2, api_key },
    },
    json2Call: {
      id: '1',
      model_id: 'res.partner',
      method: 'read',
      kwargs: { ids: [1] },
      odoo_instance: { url: upstream.url, db: 'prod', api_key },
    },
  };
}

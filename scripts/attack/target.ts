/** A real Odoo server, and a proxy in front of it. Direct calls prepare records and read what an attack has done. */
import type { Policy } from '@erp-proxy/contract';
import { startProxy } from '../../packages/server/test/harness.ts';

/** The members of `erp_instance`. */
export interface Instance {
  url: string;
  db: string;
  user_id: number;
  api_key: string;
}

// biome-ignore lint/suspicious/noExplicitAny: values of any model
type Value = any;

/** The answer of the proxy: `result`, or `error`. */
export interface Answer {
  result?: Value;
  error?: { message: string; data: { type: string; rule?: string } };
}

/** Makes a call with a key: action, model, `params` and `keyword`. */
export type KeyCall = (
  action: string,
  model: string,
  params?: readonly unknown[],
  keyword?: object,
) => Promise<Answer>;

export interface Target {
  instance: Instance;
  /** The major version of Odoo. */
  version: number;
  /** Calls Odoo without the proxy. Rejects with the message of Odoo's error. */
  odoo(model: string, method: string, params?: readonly unknown[], keyword?: object): Promise<Value>;
  /** Whether the model is installed. */
  has(model: string): Promise<boolean>;
  /** Makes a key with this policy for the server. */
  limit(policy: Omit<Policy, 'origins'>): Promise<KeyCall>;
  close(): Promise<void>;
}

export async function startTarget(instance: Instance): Promise<Target> {
  const { server_version: full } = await send(instance, 'common', 'version', []);
  const proxy = await startProxy({
    allow: [new URL(instance.url).origin],
    settings: { 'upstream.protocol': 'auto' },
  });
  const odoo: Target['odoo'] = (model, method, params = [], keyword = {}) =>
    send(instance, 'object', 'execute_kw', [
      instance.db,
      instance.user_id,
      instance.api_key,
      model,
      method,
      params,
      keyword,
    ]);
  return {
    instance,
    version: Number.parseInt(/\d+/.exec(full)?.[0] ?? '', 10),
    odoo,
    has: async (model) => (await odoo('ir.model', 'search_count', [[['model', '=', model]]])) > 0,
    async limit(policy) {
      const { key } = await proxy.app.keys.create({
        name: 'attack',
        policy: { ...policy, origins: [new URL(instance.url).origin] },
      });
      return async (action, model, params = [], keyword = {}) => {
        const body = { id: 1, action, model_id: model, params, keyword, erp_instance: instance };
        return (await proxy.call(body, { 'x-proxy-api': key })).json;
      };
    },
    close: () => proxy.close(),
  };
}

async function send(
  { url }: Instance,
  service: string,
  method: string,
  args: readonly unknown[],
): Promise<Value> {
  const response = await fetch(new URL('/jsonrpc', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call', params: { service, method, args } }),
  });
  const { result, error } = (await response.json()) as Answer & { error?: Value };
  if (error !== undefined) throw new Error(error.data?.message ?? error.message);
  return result;
}

/** A real Odoo server, and a proxy in front of it. Direct calls prepare records and read what an attack has done. */
import { EXECUTE_PATH, type Policy } from '@erp-proxy/contract';
import { findModelSignature, findSignature } from '@erp-proxy/odoo/signatures';
import { send as request, startProxy } from '../../packages/server/test/harness.ts';

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
  /**
   * Makes a key with this policy for the server. A call that the policy denies is also made by other routes, and by a
   * key whose calls need an approval: an answer of theirs other than a denial is returned.
   */
  limit(policy: Omit<Policy, 'origins'>): Promise<KeyCall>;
  /** Like {@link limit}, with calls by `POST /api/erp/execute` alone. */
  limitExecute(policy: Omit<Policy, 'origins'>): Promise<KeyCall>;
  close(): Promise<void>;
}

const COMPATIBLE_PATH = '/api/odoo/execute';
const JSON2_PATH = '/v2/odoo/execute';
/** The first version of Odoo with `/json/2`. */
const JSON2_SINCE = 19;
/** Stands for a call that cannot be made by a route. */
const DENIED: Answer = { error: { message: '', data: { type: 'policy_denied' } } };

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
  const version = Number.parseInt(/\d+/.exec(full)?.[0] ?? '', 10);
  const createKey = async (policy: Omit<Policy, 'origins'>) => {
    const origins = [new URL(instance.url).origin];
    return (await proxy.app.keys.create({ name: 'attack', policy: { ...policy, origins } })).key;
  };
  const post = async (path: string, body: object, key: string): Promise<Answer> => {
    const { body: text } = await request(new URL(path, proxy.url).href, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-proxy-api': key },
      body: JSON.stringify(body),
    });
    return JSON.parse(text.toString());
  };
  const execute =
    (key: string): KeyCall =>
    (action, model, params = [], keyword = {}) =>
      post(EXECUTE_PATH, { id: 1, action, model_id: model, params, keyword, erp_instance: instance }, key);
  const executeCompatible =
    (key: string): KeyCall =>
    (action, model, params = [], keyword = {}) =>
      post(
        COMPATIBLE_PATH,
        { id: 1, action, model_id: model, params, keyword, odoo_instance: instance },
        key,
      );
  const callJson2 =
    (key: string): KeyCall =>
    async (method, model, params = [], keyword = {}) => {
      const named = version < JSON2_SINCE ? null : nameArguments(model, method, params);
      if (named === null) return DENIED;
      const kwargs = { ...named, ...keyword };
      return post(JSON2_PATH, { id: 1, method, model_id: model, kwargs, odoo_instance: instance }, key);
    };
  return {
    instance,
    version,
    odoo,
    has: async (model) => (await odoo('ir.model', 'search_count', [[['model', '=', model]]])) > 0,
    async limit(policy) {
      const key = await createKey(policy);
      // Visitors of a web page cannot ask for approvals.
      const asking = policy.publishable ? key : await createKey({ ...policy, approve: { '*': ['*'] } });
      const others = { [COMPATIBLE_PATH]: executeCompatible(key), [JSON2_PATH]: callJson2(key) };
      const ways: [string, KeyCall][] = [...Object.entries(others), ['an approval', execute(asking)]];
      return async (...call) => {
        const answer = await execute(key)(...call);
        if (!isDenied(answer.error)) return answer;
        for (const [way, make] of ways) {
          const { error } = await make(...call);
          if (!isDenied(error))
            return { error: { message: `by ${way}: ${error?.message ?? 'it ran'}`, data: { type: way } } };
        }
        return answer;
      };
    },
    limitExecute: async (policy) => execute(await createKey(policy)),
    close: () => proxy.close(),
  };
}

/** Any other error means that the call has reached Odoo. */
export function isDenied(error: Answer['error']): boolean {
  return error?.data.type === 'policy_denied';
}

/** The arguments of a call as `/json/2` takes them; null: the names of the parameters are not known. */
function nameArguments(model: string, method: string, params: readonly unknown[]): object | null {
  const signature = findModelSignature(model, method) ?? findSignature(model, method);
  if (signature === undefined) return null;
  const named = signature.parameters.filter(({ kind }) => kind === 'positional');
  const names = [...(signature.kind === 'ids' ? ['ids'] : []), ...named.map(({ name }) => name)];
  return params.length > names.length
    ? null
    : Object.fromEntries(params.map((value, at) => [names[at], value]));
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

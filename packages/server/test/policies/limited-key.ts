/** Starts a proxy with a key whose policy restricts fields, in front of a sandbox. */
import type { Policy } from '@erp-proxy/contract';
import { startSandbox } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';

/** Methods that a policy must name without `*`. */
const NAMED = [
  'copy_data',
  'export_data',
  'load',
  'mapped',
  'read',
  'read_group',
  'web_read',
  'web_search_read',
];
export const MODELS: Policy['models'] = {
  '*': ['*', ...NAMED],
  'crm.lead': NAMED,
  'res.partner': NAMED,
  'sale.order': NAMED,
};

type Version = NonNullable<Parameters<typeof startSandbox>[0]>['version'];

/**
 * Starts a sandbox, and the proxy with a key of a policy: by default for all models. `limit` makes another key. With
 * `closeAfterFile`, tests can share them.
 */
export async function startLimited(
  members: Partial<Policy>,
  version: Version = 18,
  closeAfter: typeof closeAfterTest = closeAfterTest,
) {
  const sandbox = closeAfter(await startSandbox({ version: version! }));
  const settings = { 'upstream.protocol': 'auto', 'cache.bytesMax': '1000000' };
  const proxy = closeAfter(await startProxy({ allow: [sandbox.url], settings }));
  const { userId, apiKey } = sandbox.users.admin;
  const instance = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey };
  const makeBody = (action: string, model: string, params: unknown[], keyword: object = {}) => ({
    id: 1,
    action,
    model_id: model,
    params,
    keyword,
    erp_instance: instance,
  });
  const callWith =
    (with_: string) =>
    async (
      action: string,
      model: string,
      params: unknown[],
      keyword: object = {},
      headers: Record<string, string> = {},
    ) =>
      (await proxy.call(makeBody(action, model, params, keyword), { 'x-proxy-api': with_, ...headers })).json;
  const limit = async (limits: Partial<Policy>) => {
    const policy = { origins: [sandbox.url], models: MODELS, ...limits };
    const { key, record } = await proxy.app.keys.create({ name: 'limited', policy });
    return { policy, key, record, call: callWith(key) };
  };
  return {
    sandbox,
    proxy,
    instance,
    makeBody,
    callFreely: callWith(proxy.key),
    limit,
    ...(await limit(members)),
  };
}

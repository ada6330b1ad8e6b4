/** Starts a proxy with a stored sandbox, and sends requests for its changes. */
import type { Policy } from '@erp-proxy/contract';
import { type Sandbox, type SandboxOptions, startSandbox } from '@erp-proxy/sandbox';
import { closeAfterTest } from '../close-after-test.ts';
import { type Proxy as ErpProxy, type HttpAnswer, send, startProxy } from '../harness.ts';

export interface ChangesAnswer extends HttpAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  json: any;
  changes: { change: string; id: number; at: string | null; record: Record<string, unknown> | null }[];
  cursor: string;
  more: boolean;
}

export interface ChangesStage {
  sandbox: Sandbox;
  proxy: ErpProxy;
  createKey(policy: Policy): Promise<string>;
  /** Asks for changes of contacts since the beginning; `body` replaces members. */
  ask(body?: object | string, headers?: Record<string, string>, proxy?: ErpProxy): Promise<ChangesAnswer>;
  /** Asks until there are no more changes, and returns the last answer with the changes of all answers. */
  askAll(body?: object, headers?: Record<string, string>): Promise<ChangesAnswer>;
  /** Starts another proxy with the same instance. */
  startOther(settings?: Record<string, string>): Promise<ErpProxy>;
}

/** With `closeAfterFile`, tests can share a stage. */
export async function startStage(
  settings: Record<string, string> = {},
  options: SandboxOptions = { version: 18 },
  closeAfter: typeof closeAfterTest = closeAfterTest,
): Promise<ChangesStage> {
  const sandbox = closeAfter(await startSandbox(options));
  const startOther = async (others: Record<string, string> = settings) => {
    const proxy = closeAfter(
      await startProxy({
        settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64'), ...others },
      }),
    );
    await addInstance(proxy, sandbox, 'prod');
    return proxy;
  };
  const proxy = await startOther();
  const ask: ChangesStage['ask'] = async (body = {}, headers = {}, asked = proxy) => {
    const whole = { model_id: 'res.partner', fields: ['name'], since: null, erp_instance: { name: 'prod' } };
    const answer = await send(`${asked.url}/api/erp/changes`, {
      method: 'POST',
      headers: { 'x-proxy-api': asked.key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify({ ...whole, ...body }),
    });
    const json = JSON.parse(answer.body.toString());
    return { ...answer, json, ...json.result };
  };
  return {
    sandbox,
    proxy,
    ask,
    startOther,
    async askAll(body = {}, headers) {
      const changes: ChangesAnswer['changes'] = [];
      for (let since: object = {}; ; ) {
        const answer = await ask({ ...body, ...since }, headers);
        if (answer.changes === undefined) throw new Error(answer.body.toString());
        changes.push(...answer.changes);
        if (!answer.more) return { ...answer, changes };
        since = { since: answer.cursor };
      }
    },
    createKey: async (policy) => (await proxy.app.keys.create({ name: 'test', policy })).key,
  };
}

export async function addInstance(
  proxy: ErpProxy,
  { url, db, users }: Sandbox,
  name: string,
  user = users.admin,
): Promise<void> {
  await proxy.app.instances.add({
    name,
    url,
    db,
    user_id: user.userId,
    api_key: user.apiKey,
    allow_private: true,
  });
}

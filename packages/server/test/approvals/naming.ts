/** For tests: starts a proxy in front of a sandbox, with a key whose calls of some methods need an approval. */
import type { ConcernedRecords, Policy } from '@erp-proxy/contract';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { App } from '../../src/app/app.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { readTextFile } from '../../src/config/read-text-file.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send as sendHttp, startProxy } from '../harness.ts';
import { callTool, connectClient } from '../mcp/stage.ts';
import { TEST_ACTOR } from '../test-actor.ts';

const TOKEN = 'an-admin-token-of-more-than-32-characters';
const METHODS = ['unlink', 'write', 'message_post', 'action_cancel'];

export type Way = 'execute' | 'json2' | 'mcp';

export interface Naming {
  app: App;
  sandbox: Sandbox;
  admin: ReturnType<App['adminFor']>;
  /** Calls the sandbox as a key without a policy. */
  call(model: string, method: string, params: unknown[]): Promise<unknown>;
  /** Sends a call of the limited key. */
  send(
    model: string,
    method: string,
    params: unknown[],
    keyword?: object,
    approval?: string,
    // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  ): Promise<any>;
  /** The id of the approval that the call asks for. */
  ask(
    model: string,
    method: string,
    ids: readonly number[],
    more?: readonly unknown[],
    keyword?: object,
  ): Promise<string>;
  concerns(id: string): Promise<ConcernedRecords[]>;
  /** The output of `approvals show`. */
  show(id: string): Promise<string>;
}

export async function startNaming(policy: Partial<Policy>, way: Way = 'execute'): Promise<Naming> {
  const sandbox = closeAfterTest(await startSandbox({ version: 19 }));
  const settings = { 'admin.token': TOKEN, 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') };
  const proxy = closeAfterTest(await startProxy({ allow: [sandbox.url], settings }));
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  const server = { url: sandbox.url, db: sandbox.db, user_id, api_key };
  await proxy.app.instances.add({ ...server, name: 'prod', allow_private: true });
  const { key } = await proxy.app.keys.create({
    name: 'limited',
    policy: {
      origins: [sandbox.url],
      instances: ['prod'],
      models: { '*': ['*'] },
      approve: { '*': METHODS },
      ...policy,
    },
  });
  const admin = proxy.app.adminFor(TEST_ACTOR);
  const erp_instance = { name: 'prod' };

  const send: Naming['send'] = async (model_id, method, params, keyword = {}, approval = '') => {
    const headers = {
      'x-proxy-api': key,
      'content-type': 'application/json',
      ...(approval === '' ? {} : { 'x-approval': approval }),
    };
    if (way === 'execute') {
      const body = { id: 1, action: method, model_id, params, keyword, erp_instance };
      return (await proxy.call(body, headers)).json;
    }
    const kwargs = { ...keyword, ids: params[0] };
    const body = JSON.stringify({ id: 1, model_id, method, kwargs, odoo_instance: server });
    const answer = await sendHttp(`${proxy.url}/v2/odoo/execute`, { method: 'POST', headers, body });
    return JSON.parse(answer.body.toString());
  };

  async function askByTool(model: string, method: string, ids: readonly number[]): Promise<string> {
    const requestInit = { headers: { 'x-proxy-api': key } };
    const transport = new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), { requestInit });
    const client = await connectClient(transport, {});
    const { text } = await callTool(client, 'call_method', { model, method, ids });
    return /Id of the approval: (\w+)\./.exec(text)?.[1] ?? text;
  }

  return {
    app: proxy.app,
    sandbox,
    admin,
    async call(model_id, action, params) {
      const { json } = await proxy.call({ id: 1, action, model_id, params, erp_instance });
      if (json.error !== undefined) throw new Error(JSON.stringify(json.error));
      return json.result;
    },
    send,
    async ask(model, method, ids, more = [], keyword = {}) {
      if (way === 'mcp') return askByTool(model, method, ids);
      const { error } = await send(model, method, [ids, ...more], keyword);
      if (error?.data?.type !== 'approval_required') throw new Error(JSON.stringify(error));
      return error.data.approval;
    },
    async concerns(id) {
      const { call } = await admin.getApproval(id);
      return call !== null && 'concerns' in call ? (call.concerns ?? []) : [];
    },
    async show(id) {
      const surroundings = recordSurroundings({ isTerminal: true });
      const argv = ['approvals', 'show', id, '--url', proxy.url];
      const env = { ERP_PROXY_ADMIN_TOKEN: TOKEN };
      await runCommandLine({ argv, env, cwd: '/', readFile: readTextFile, version: '1.2.3' }, surroundings);
      return surroundings.stdout;
    },
  };
}

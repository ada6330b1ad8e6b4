/** For tests: starts a proxy whose stored instance is a scripted Odoo. */
import type { Policy } from '@erp-proxy/contract';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, type Script, startUpstream } from '../scripted-upstream.ts';

/**
 * Resolves to a function that sends a message to `/mcp`, and resolves to the text of its answer. `policy`: the policy
 * of the key; null: none.
 */
export async function startWithScript(
  script: Script,
  policy: Policy | null = null,
): Promise<(body: string) => Promise<string>> {
  const upstream = closeAfterTest(await startUpstream(script));
  const settings = {
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'upstream.protocol': 'jsonrpc',
  };
  const proxy = closeAfterTest(await startProxy({ settings }));
  const instance = { name: 'prod', url: upstream.url, db: 'odoo', user_id: 2, api_key: 'key' };
  await proxy.app.instances.add({ ...instance, allow_private: true });
  const key = policy === null ? proxy.key : (await proxy.app.keys.create({ name: 'agent', policy })).key;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-proxy-api': key,
  };
  return async (body) => (await send(`${proxy.url}/mcp`, { method: 'POST', headers, body })).body.toString();
}

/**
 * Resolves to a function that calls a tool. `answer` returns the result of a method as JSON text. It can append text
 * that Odoo's answer has after the result, such as further members.
 */
export async function startScriptedTools(
  answer: (method: string) => string,
): Promise<(tool: string, args: object) => Promise<{ isError: boolean; text: string }>> {
  const post = await startWithScript((socket, { body }) => {
    const { args = [] } = JSON.parse(body.toString()).params ?? {};
    answerLikeOdoo(socket, printResult(answer(String(args[4]))));
  });
  return async (name, args) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const answered = await post(JSON.stringify(message));
    const json = /^data: (.*)$/m.exec(answered)?.[1] ?? answered;
    const { isError = false, content } = JSON.parse(json).result;
    return { isError, text: content[0].text };
  };
}

/** Tests routes that make calls of their own, under a policy that asks for approvals of these calls. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { startStage } from '../mcp/stage.ts';
import { TEST_ACTOR } from '../test-actor.ts';

const POLICY: Policy = {
  instances: ['prod'],
  models: { '*': ['*'] },
  approve: { '*': ['read', 'write', 'search*'] },
  data: ['export', 'changes', 'files'],
};
const CALL = { model_id: 'res.partner', erp_instance: { name: 'prod' } };

/** The error in an answer; undefined if the body is the bytes of a file. */
function readError(body: Buffer) {
  return body.includes('"error"') ? JSON.parse(body.toString()).error : undefined;
}

async function start() {
  const stage = await startStage();
  const { proxy } = stage;
  const key = await stage.createKey(POLICY);
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const all = { 'x-proxy-api': key, 'content-type': 'application/json', ...headers };
    const answer = await send(`${proxy.url}/api/erp/${path}`, { method: 'POST', headers: all, body });
    return { status: answer.status, error: readError(answer.body) };
  };
  const admin = proxy.app.adminFor(TEST_ACTOR);
  const countWaiting = async () => (await admin.listApprovals({})).items.length;
  return { ...stage, key, post, admin, countWaiting };
}

test.each([
  ['export', { ...CALL, fields: ['name'] }],
  ['changes', { ...CALL, fields: ['name'], since: null }],
])('%s makes calls that cannot be approved one by one, and asks for none', async (path, body) => {
  const { post, countWaiting } = await start();
  const { status, error } = await post(path, JSON.stringify(body));
  expect(status).toBe(403);
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'approve["*"]' });
  expect(error.message).toContain('cannot be approved one by one');
  expect(await countWaiting()).toBe(0);
});

test('download and upload make one call, which the header approves', async () => {
  const { post, admin } = await start();
  const file = { ...CALL, record: 10, field: 'image_1920' };
  const upload = { 'content-type': 'text/plain', 'x-erp-call': encodeURIComponent(JSON.stringify(file)) };
  for (const [path, body, headers] of [
    ['upload', 'abc', upload],
    ['download', JSON.stringify(file), {}],
  ] as const) {
    const { error } = await post(path, body, headers);
    expect(error.data.type).toBe('approval_required');
    await admin.approveCall(error.data.approval);
    const approved = { ...headers, 'x-approval': error.data.approval };
    expect((await post(path, body, approved)).status).toBe(200);
    expect((await post(path, body, approved)).error.message).toContain('is used');
  }
});

test('tools that only read take no approval, and ask for none; call_method does', async () => {
  const { call, connect, key, countWaiting } = await start();
  const client = await connect({ key });
  for (const [tool, args] of [
    ['search_records', { model: 'res.partner' }],
    ['read_records', { model: 'res.partner', ids: [10] }],
    ['count_records', { model: 'res.partner' }],
    ['list_changes', { model: 'res.partner', fields: ['name'] }],
  ] as const) {
    const { text } = await call(tool, args, client);
    expect(text).toMatch(/^policy_denied: [\s\S]*cannot be approved one by one/);
  }
  expect(await countWaiting()).toBe(0);
  const method = { model: 'res.partner', method: 'read', ids: [10], arguments: [['name']] };
  expect((await call('call_method', method, client)).text).toMatch(/^approval_required: /);
  expect(await countWaiting()).toBe(1);
});

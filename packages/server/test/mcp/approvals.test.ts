/** Tests calls of tools that a policy runs only after an administrator has approved them. */
import { expect, test } from 'vitest';
import { TEST_ACTOR } from '../test-actor.ts';
import { AGREE, startStage } from './stage.ts';

const ORDER = { model: 'sale.order', ids: [1] };

async function startAgent() {
  const stage = await startStage();
  const key = await stage.createKey({
    instances: ['prod'],
    models: { 'sale.order': ['*'] },
    approve: { 'sale.order': ['unlink', 'action_confirm'] },
  });
  const admin = stage.proxy.app.adminFor(TEST_ACTOR);
  return { ...stage, key, admin };
}

const readId = (text: string) => /Id of the approval: (\w+)\./.exec(text)?.[1] ?? '';

test('a call waits for an administrator, and runs once with the id of its approval', async () => {
  const { connect, call, key, admin } = await startAgent();
  const client = await connect({ key });
  const confirm = { model: 'sale.order', method: 'action_confirm', ids: [1] };
  const refused = await call('call_method', confirm, client);
  expect(refused.text).toMatch(/^approval_required: [\s\S]*\nNext: .*`approval`/);
  expect(refused.isError).toBe(true);
  const approval = readId(refused.text);

  const early = await call('call_method', { ...confirm, approval }, client);
  expect(early.text).toMatch(/^approval_required: /);
  await admin.approveCall(approval);
  const other = await call('call_method', { ...confirm, ids: [2], approval }, client);
  expect(other.text).toMatch(/^approval_required: /);
  expect((await call('call_method', { ...confirm, approval }, client)).data).toMatchObject({ result: true });
  const again = await call('call_method', { ...confirm, approval }, client);
  expect(again.text).toMatch(/^policy_denied: .*is used/);
});

test('the person in front of the client is asked too, even if the call names an approval', async () => {
  const { connect, call, key } = await startAgent();
  let questions = 0;
  const client = await connect({
    key,
    answer: () => {
      questions++;
      return { action: 'decline' };
    },
  });
  const approval = '0'.repeat(24);
  const { text } = await call('delete_records', { ...ORDER, approval }, client);
  expect(text).toContain('Nothing was changed');
  expect(questions).toBe(1);
});

test('all answers name the argument of the tool, not the header of other calls', async () => {
  const { connect, call, key, admin } = await startAgent();
  const client = await connect({ key });
  const remove = async (id: number, approval?: string) =>
    (await call('delete_records', { ...ORDER, ids: [id], ...(approval ? { approval } : {}) }, client)).text;
  const asked = await remove(1);
  expect(asked).toContain('Send the same call again with its id as `approval` once it is approved.');
  const first = readId(asked);
  await admin.approveCall(first);
  const texts = [asked, await remove(1)];
  await remove(1, first);
  texts.push(await remove(1, first));
  const other = await remove(2, first);
  await admin.refuseCall(readId(other), { reason: 'no' });
  texts.push(other, await remove(2));
  expect(texts.map((text) => text.split(':')[0])).toEqual([
    'approval_required',
    'approval_required',
    'policy_denied',
    'approval_required',
    'policy_denied',
  ]);
  for (const text of texts) {
    expect(text).toContain('`approval`');
    expect(text).not.toContain('x-approval');
  }
});

test('where an administrator approves, the person in front of the client is asked once, and first', async () => {
  const { connect, call, key, admin } = await startAgent();
  const questions: string[] = [];
  const client = await connect({
    key,
    answer: async (message) => {
      questions.push(message);
      expect((await admin.listApprovals({})).items).toEqual([]);
      return AGREE;
    },
  });
  const asked = await call('delete_records', ORDER, client);
  expect(questions).toHaveLength(1);
  const approval = readId(asked.text);
  // The states of the approval: it waits; it is approved, but the call does not name it; the call names it.
  expect((await call('delete_records', ORDER, client)).text).toContain(approval);
  expect((await call('delete_records', { ...ORDER, approval }, client)).text).toContain(approval);
  await admin.approveCall(approval);
  expect((await call('delete_records', ORDER, client)).text).toContain('is approved');
  const done = await call('delete_records', { ...ORDER, approval }, client);
  expect(done.data).toEqual({ deleted: [1] });
  expect((await call('delete_records', { ...ORDER, approval }, client)).text).toMatch(/is used/);
  expect(questions).toHaveLength(1);
});

test('a person who does not agree leaves no request for an administrator', async () => {
  const { connect, call, key, admin } = await startAgent();
  const client = await connect({ key, answer: () => ({ action: 'decline' }) });
  expect((await call('delete_records', ORDER, client)).text).toContain('Nothing was changed');
  expect((await admin.listApprovals({})).items).toEqual([]);
});

test('nobody is asked again about a call that an administrator has refused', async () => {
  const { connect, call, key, admin } = await startAgent();
  let questions = 0;
  const client = await connect({
    key,
    answer: () => {
      questions++;
      return AGREE;
    },
  });
  const approval = readId((await call('delete_records', ORDER, client)).text);
  await admin.refuseCall(approval, { reason: 'no' });
  expect((await call('delete_records', ORDER, client)).text).toMatch(/^policy_denied: .*refused/);
  expect(questions).toBe(1);
});

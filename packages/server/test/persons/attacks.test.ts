/** Attacks on persons and their connections, each of which must fail. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { readSender, startScripted, startStage } from './stage.ts';

const WRONG_KEY = '0'.repeat(40);

/** A person who has connected, whose key Odoo has not seen since its start. */
async function startOld(version: 14 | 15) {
  const stage = await startStage({ version });
  const { connections, instances } = stage.proxy.app;
  await connections.put((await instances.find('prod'))!, {
    person: 'corp/ada',
    keyExpiresAt: null,
    ...stage.sandbox.users.demo,
  });
  return stage;
}

test.each([14, 15] as const)(
  'Odoo %i: persons who try keys do not get the calls of others refused',
  async (version) => {
    const { connect, call } = await startOld(version);
    const statuses: number[] = [];
    for (const sub of ['eve', 'mallory', 'trudy'])
      for (let count = 0; count < 3; count++)
        statuses.push((await connect(sub, { login: 'demo', apiKey: WRONG_KEY })).status);
    expect((await call('ada')).status).toBe(200);
    expect(statuses).toEqual([400, 400, 400, 429, 429, 429, 429, 429, 429]);
  },
);

test('Odoo 14: keys that are tried at the same time count before they are answered', async () => {
  const { connect, call } = await startOld(14);
  const persons = Array.from({ length: 8 }, (_, index) => `eve${index}`);
  await Promise.all(persons.map((sub) => connect(sub, { login: 'demo', apiKey: WRONG_KEY })));
  expect((await call('ada')).status).toBe(200);
});

const UNLINK = { action: 'unlink', model_id: 'res.partner', params: [[3]] };

/** An instance whose user is 5, that is switched to persons by `toPersons`. The upstream answers with the user's id. */
async function startSwitched(rules: object = {}) {
  const stage = await startScripted(
    (socket, request) => answerLikeOdoo(socket, printResult(String(readSender(request).userId))),
    {
      instance: { identity: 'shared', user_id: 5, api_key: 'key-of-the-instance' },
      settings: {},
      ...rules,
    },
  );
  const { key } = await stage.proxy.app.keys.create({
    name: 'script of Ada',
    person: 'corp/ada',
    policy: { instances: ['prod'], models: { '*': ['*'] }, approve: { '*': ['unlink'] }, cache: true },
  });
  return {
    ...stage,
    ada: { 'x-proxy-api': key },
    async toPersons() {
      expect((await stage.admin('PATCH', '/instances/prod', { identity: 'person' })).status).toBe(200);
      await stage.put('ada');
    },
  };
}

test('an approval for the user of an instance is not one for the person after a switch', async () => {
  const { ada, call, admin, toPersons, upstream } = await startSwitched();
  const { approval } = (await call(ada, UNLINK)).json.error.data;
  expect((await admin('POST', `/approvals/${approval}/approve`)).status).toBe(200);
  await toPersons();
  const used = await call({ ...ada, 'x-approval': approval }, UNLINK);
  expect(used.json.error.data.type).toMatch(/^approval_/);
  expect(upstream.requests.filter(({ body }) => body.includes('"unlink"'))).toEqual([]);
});

test('answers that were kept before a switch do not come after it', async () => {
  const { ada, call, toPersons } = await startSwitched();
  const kept = { ...ada, 'cache-control': 'max-age=600' };
  const READ = { action: 'search_read', model_id: 'res.partner', params: [[]] };
  const WRITE = { action: 'write', model_id: 'res.partner', params: [[1], {}] };
  const once = { ...ada, 'idempotency-key': 'one' };
  expect((await call(kept, READ)).json.result).toBe(5);
  expect((await call(once, WRITE)).json.result).toBe(5);
  await toPersons();
  expect((await call(kept, READ)).json.result).toBe(7);
  expect((await call(once, WRITE)).json.result ?? 'refused').toBe('refused');
});

test('a subscription does not read on as nobody after a switch, and says why', async () => {
  const { admin, proxy, toPersons } = await startSwitched();
  const made = await admin('POST', '/subscriptions', {
    name: 'contacts',
    instance: 'prod',
    model: 'res.partner',
    fields: ['name'],
    url: 'https://hooks.example.com/x',
  });
  expect(made.status).toBe(201);
  await toPersons();
  const read = async () => JSON.stringify((await admin('GET', '/subscriptions/contacts')).json);
  await expect.poll(read).toMatch(/identity|person/);
  expect(JSON.stringify(proxy.log)).not.toContain('key-of-ada');
});

test.each([16, 19] as const)(
  'Odoo %i: the calls of a person whose user is archived are refused, and work again when the user does',
  async (version) => {
    const { connect, call, ask, sandbox } = await startStage({ version });
    const { admin, demo } = sandbox.users;
    await connect('ada', demo);
    await connect('bob', admin);
    expect((await call('ada')).status).toBe(200);
    const archive = (isArchived: boolean) => {
      const transaction = sandbox.begin();
      transaction.write('res.users', [demo.userId], { active: !isArchived });
      transaction.commit();
    };
    archive(true);
    expect((await call('ada')).json.error.data.type).toBe('access_denied');
    expect((await ask('POST', '/me/connections/prod/test', 'ada')).json).toEqual({
      ok: false,
      text: expect.stringMatching(/archived/),
    });
    expect((await ask('GET', '/me/connections', 'ada')).json.connections).toMatchObject([
      { state: 'connected', login: 'demo' },
    ]);
    expect((await connect('eve', demo)).status).toBe(400);
    expect((await call('bob')).status).toBe(200);
    archive(false);
    expect((await ask('POST', '/me/connections/prod/test', 'ada')).json.ok).toBe(true);
    expect((await call('ada')).status).toBe(200);
  },
);

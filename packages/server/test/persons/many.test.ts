/** Tests that a sign-in, a connection and a call ask the store the same with 10,000 persons as with ten. */
import type { Store } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';
import { Browser, describeOperators, startScriptedProvider } from '../operators/scripted-provider.ts';
import { describeIssuer, READER } from '../tokens/issuer.ts';
import { startStage } from './stage.ts';

const AT_A_TIME = 500;
const PARTS = ['connections', 'operators', 'instances', 'keys', 'deniedSubjects', 'leases'] as const;

/** The calls of the store for each act, with the number of rows that lists returned. */
async function countFor(persons: number) {
  const provider = await startScriptedProvider();
  const stage = await startStage({
    settings: {
      ...describeOperators(provider),
      'auth.issuers': JSON.stringify([describeIssuer(provider, { rules: [{ policy: READER }] })]),
    },
  });
  const { proxy, sandbox, call } = stage;
  const { store, connections, instances, keys } = proxy.app;
  await connections.put((await instances.find('prod'))!, {
    person: 'corp/first',
    login: 'demo',
    userId: 8,
    apiKey: sandbox.users.demo.apiKey,
    keyExpiresAt: null,
  });
  const row = (await store.connections.find('prod', 'corp/first'))!;
  const granted = '{"version":"of another test","claims":{}}';
  const ids = Array.from({ length: persons }, (_, index) => `corp/p${String(index).padStart(5, '0')}`);
  for (let from = 0; from < ids.length; from += AT_A_TIME) {
    await Promise.all(
      ids.slice(from, from + AT_A_TIME).map(async (person) => {
        await store.connections.put({ ...row, person });
        await store.operators.confirm({ id: person, name: person, granted, confirmedAt: 1 });
      }),
    );
  }
  const { key } = await keys.create({ name: 'script', person: 'corp/p00007' });
  const asked = watchStore(store);
  const during = async (act: () => Promise<number>) => {
    asked.length = 0;
    return { status: await act(), asked: asked.toSorted() };
  };
  provider.claims = { sub: 'p00007', groups: ['erp-admins'] };
  const browser = new Browser(proxy);
  const signIn = await during(async () => {
    await browser.signIn();
    return (await browser.session()).status;
  });
  const body = JSON.stringify({ login: 'demo', api_key: sandbox.users.demo.apiKey });
  const connect = await during(
    async () => (await browser.ask('/me/connections/prod', { method: 'POST', body })).status,
  );
  const list = await during(async () => (await browser.ask('/me/connections')).status);
  const first = await during(async () => (await call({ 'x-proxy-api': key })).status);
  const second = await during(async () => (await call({ 'x-proxy-api': key })).status);
  const listPersons = await during(async () => (await browser.ask('/admin/v1/persons?limit=5')).status);
  asked.length = 0;
  await proxy.app.personKeyRotation.checkAll();
  const renewal = asked.filter((question) => question.startsWith('connections.'));
  return { acts: { signIn, connect, list, first, second, listPersons }, renewal };
}

function watchStore(store: Store): string[] {
  const asked: string[] = [];
  for (const part of PARTS) {
    const methods = store[part] as unknown as Record<string, (...given: unknown[]) => unknown>;
    for (const [name, run] of Object.entries(methods)) {
      if (typeof run !== 'function' || name === 'touch') continue;
      methods[name] = async (...given) => {
        const found = await run.apply(methods, given);
        asked.push(`${part}.${name}${Array.isArray(found) ? ` ${found.length} rows` : ''}`);
        return found;
      };
    }
  }
  return asked;
}

test('10,000 persons cost a sign-in, a connection and a call what ten do', async () => {
  const few = await countFor(10);
  expect(Object.values(few.acts).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(few.acts.first.asked.length).toBeGreaterThan(0);
  expect(few.acts.list.asked).toContain('connections.list 1 rows');
  expect(few.acts.listPersons.asked).toContain('deniedSubjects.findAll 0 rows');
  expect(few.acts.listPersons.asked).not.toContain('deniedSubjects.find');
  const many = await countFor(10_000);
  expect(many.acts).toEqual(few.acts);
  // Keys that are due are looked for a page at a time.
  expect(many.renewal).toHaveLength(101);
  expect(few.renewal).toHaveLength(1);
});

/**
 * Tests that persons share nothing, whatever they call at the same time: no answer reaches two of them, also if they
 * have connected the same user of Odoo with the same key. The upstream gives each answer a number of its own.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { readSender, startScripted } from './stage.ts';

const PERSONS = ['ada', 'bob', 'eve'] as const;
/** Ada and Eve share a user, with one key. */
const USERS = {
  ada: { userId: 7, apiKey: 'shared-key' },
  bob: { userId: 8, apiKey: 'key-of-bob' },
  eve: { userId: 7, apiKey: 'shared-key' },
};

const ask = fc.record({
  person: fc.constantFrom(...PERSONS),
  by: fc.constantFrom('token' as const, 'key' as const),
  kind: fc.constantFrom('read' as const, 'kept read' as const, 'write' as const),
  record: fc.integer({ min: 1, max: 2 }),
  idempotencyKey: fc.constantFrom(null, 'one', 'two'),
});

test('no answer reaches two persons', async () => {
  let answers = 0;
  const { proxy, call, put, token, upstream } = await startScripted((socket, request) => {
    const { apiKey } = readSender(request);
    answerLikeOdoo(socket, printResult(JSON.stringify([{ id: answers++, apiKey }])));
  });
  const keys: Record<string, string> = {};
  for (const person of PERSONS) {
    await put(person, USERS[person]);
    const policy = { instances: ['*'], origins: ['*'], models: { '*': ['*'] }, cache: true };
    keys[person] = (await proxy.app.keys.create({ name: person, person: `corp/${person}`, policy })).key;
  }
  const owners = new Map<number, string>();
  let reused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(ask, { minLength: 2, maxLength: 12 }), async (asked) => {
      await Promise.all(
        asked.map(async ({ person, by, kind, record, idempotencyKey }) => {
          const { status, json } = await call(
            {
              ...(by === 'token' ? tokenOf(person) : { 'x-proxy-api': keys[person]! }),
              ...(kind === 'kept read' ? { 'cache-control': 'max-age=600' } : {}),
              ...(kind === 'write' && idempotencyKey !== null
                ? { 'idempotency-key': `${idempotencyKey} ${record}` }
                : {}),
            },
            {
              action: kind === 'write' ? 'write' : 'search_read',
              model_id: 'res.partner',
              params: kind === 'write' ? [[record], {}] : [[['id', '=', record]]],
            },
          );
          if (status === 409) return;
          expect(status).toBe(200);
          const [{ id, apiKey }] = json.result;
          expect(apiKey).toBe(USERS[person].apiKey);
          if (owners.has(id)) reused++;
          expect(owners.get(id) ?? person).toBe(person);
          owners.set(id, person);
        }),
      );
    }),
    { numRuns: countCases(200) },
  );
  expect(reused, 'answers are shared within one person').toBeGreaterThan(0);
  expect(upstream.requests.length).toBeGreaterThan(0);

  function tokenOf(person: string): Record<string, string> {
    return { authorization: `Bearer ${token(person)}` };
  }
});

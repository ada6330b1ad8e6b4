/**
 * Tests that persons share nothing, whatever they call at the same time: no answer, no type of a field and no approval
 * reaches two of them, also if they have connected the same user of Odoo with the same key, and no archived user of one
 * is felt by another. The upstream gives each answer a number of its own.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { readSender, startScripted } from './stage.ts';

const PERSONS = ['ada', 'bob', 'eve'] as const;
type Person = (typeof PERSONS)[number];
/** Ada and Eve share a user, with one key. */
const USERS = {
  ada: { userId: 7, apiKey: 'shared-key' },
  bob: { userId: 8, apiKey: 'key-of-bob' },
  eve: { userId: 7, apiKey: 'shared-key' },
};
const ACCESS_DENIED = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: 200,
    message: 'Odoo Server Error',
    data: { name: 'odoo.exceptions.AccessDenied', message: 'Access Denied', arguments: ['Access Denied'] },
  },
});

const KINDS = ['read', 'kept read', 'write', 'read of all fields', 'ask', 'use'] as const;
const ask = fc.record({
  person: fc.constantFrom(...PERSONS),
  by: fc.constantFrom('token' as const, 'key' as const),
  kind: fc.constantFrom(...KINDS),
  record: fc.integer({ min: 1, max: 2 }),
  idempotencyKey: fc.constantFrom(null, 'one', 'two'),
  pick: fc.nat(99),
});
type Asked = typeof ask extends fc.Arbitrary<infer Value> ? Value : never;
/** Calls that run at once, while the user of Bob is archived or not. */
const round = fc.record({
  isBobArchived: fc.constantFrom(true, false, false, false),
  asked: fc.array(ask, { minLength: 2, maxLength: 12 }),
});

test('no answer, field type or approval reaches two persons, and no archived user of another is felt', async () => {
  const policy = {
    instances: ['*'],
    models: { '*': ['*'] },
    cache: true,
    fields: { 'res.users': { deny: ['password'] } },
    approve: { '*': ['unlink'] },
  };
  let answers = 0;
  let isBobArchived = false;
  const script: Script = (socket, request) => {
    const { userId, apiKey } = readSender(request);
    if (isBobArchived && userId === USERS.bob.userId) return answerLikeOdoo(socket, ACCESS_DENIED);
    const { method, keyword } = readCall(request.body);
    const id = answers++;
    if (method === 'fields_get') {
      const fields = { id: { type: 'integer' }, [`f_${id}`]: { type: 'char' } };
      return answerLikeOdoo(socket, printResult(JSON.stringify(fields)));
    }
    const named = ((keyword['fields'] ?? []) as string[]).filter((name) => name.startsWith('f_'));
    answerLikeOdoo(socket, printResult(JSON.stringify([{ id, apiKey, named }])));
  };
  const { proxy, call, put, token, admin } = await startScripted(script, { issuer: { rules: [{ policy }] } });
  const keys: Record<string, string> = {};
  for (const person of PERSONS) {
    await put(person, USERS[person]);
    keys[person] = (await proxy.app.keys.create({ name: person, person: `corp/${person}`, policy })).key;
  }
  const owners = new Map<number, Person>();
  const ownersOfTypes = new Map<string, Person>();
  const approvals: { id: string; person: Person; by: Asked['by']; record: number; isUsed: boolean }[] = [];
  const seen = { reused: 0, typesReused: 0, used: 0, stolen: 0, denied: 0 };

  async function run({ person, by, kind, record, idempotencyKey, pick }: Asked): Promise<void> {
    const headers: Record<string, string> =
      by === 'token' ? { authorization: `Bearer ${token(person)}` } : { 'x-proxy-api': keys[person]! };
    const isOfApproval = kind === 'ask' || kind === 'use';
    const approval = kind === 'use' ? approvals[pick % approvals.length] : undefined;
    if (kind === 'use' && approval === undefined) return;
    if (kind === 'kept read') headers['cache-control'] = 'max-age=600';
    if (kind === 'write' && idempotencyKey !== null)
      headers['idempotency-key'] = `${idempotencyKey} ${record}`;
    if (approval !== undefined) headers['x-approval'] = approval.id;
    const params =
      kind === 'write'
        ? [[record], {}]
        : isOfApproval
          ? [[approval?.record ?? record]]
          : [[['id', '=', record]]];
    const { status, json } = await call(headers, {
      action: isOfApproval ? 'unlink' : kind === 'write' ? 'write' : 'search_read',
      model_id: kind === 'read of all fields' ? 'res.users' : 'res.partner',
      params,
    });
    const type: string | undefined = json.error?.data.type;
    if (type === 'access_denied') {
      seen.denied++;
      expect(person).toBe('bob');
      return;
    }
    if (status === 409) return;
    if (isOfApproval && status !== 200) {
      if (kind === 'ask' && type === 'approval_required') {
        const id: string = json.error.data.approval;
        // Asking again gives the approval of the earlier call, if it is that of the same caller.
        const earlier = approvals.find((it) => it.id === id);
        expect(earlier?.person ?? person).toBe(person);
        expect(earlier?.by ?? by).toBe(by);
        if (earlier === undefined) approvals.push({ id, person, by, record, isUsed: false });
      } else if (approval !== undefined && approval.person !== person) seen.stolen++;
      return;
    }
    expect([status, type]).toEqual([200, undefined]);
    if (approval !== undefined) {
      expect([approval.person, approval.by]).toEqual([person, by]);
      seen.used++;
    }
    const [{ id, apiKey, named }] = json.result;
    expect(apiKey).toBe(USERS[person].apiKey);
    if (owners.has(id)) seen.reused++;
    expect(owners.get(id) ?? person).toBe(person);
    owners.set(id, person);
    for (const name of named as string[]) {
      if (ownersOfTypes.has(name)) seen.typesReused++;
      expect(ownersOfTypes.get(name) ?? person).toBe(person);
      ownersOfTypes.set(name, person);
    }
  }

  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), async (rounds) => {
      for (const { asked, ...given } of rounds) {
        isBobArchived = given.isBobArchived;
        await Promise.all(asked.map(run));
        for (const approval of approvals) {
          if (approval.isUsed) continue;
          approval.isUsed = true;
          await admin('POST', `/approvals/${approval.id}/approve`);
        }
      }
    }),
    { numRuns: countCases(150) },
  );
  for (const [name, count] of Object.entries(seen)) expect([name, count > 0]).toEqual([name, true]);
});

function readCall(body: Buffer): { method: string; keyword: Record<string, unknown> } {
  const [, , , , method, , keyword = {}] = JSON.parse(body.toString()).params.args;
  return { method, keyword };
}

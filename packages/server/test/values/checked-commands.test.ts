/**
 * Tests docs/values.md#writing: a policy checks the commands that are sent. A call with commands as objects is allowed
 * exactly if the same call in Odoo's own form is. fast-check prints the seed.
 */
import type { Policy } from '@erp-proxy/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printCall } from '../execute/expectations.ts';
import { type Pair, startPair } from '../pair.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';

const USERS = { type: 'many2many', relation: 'res.users' };
const PARTNERS = { type: 'one2many', relation: 'res.partner' };
const TAXES = { type: 'many2many', relation: 'account.tax' };
/** The same fields on all models, so that commands can be nested. */
const TYPES = {
  name: { type: 'char' },
  user_ids: USERS,
  favorite_user_ids: USERS,
  tax_ids: TAXES,
  child_ids: PARTNERS,
  api_key_ids: { type: 'one2many', relation: 'res.users.apikeys' },
};
const LINKS = Object.keys(TYPES).filter((name) => name !== 'name');
const MODELS = ['res.partner', 'project.task', 'sale.order'];

/** Each policy names more methods of sensitive models than the previous one. */
const POLICIES: Policy[] = [
  {},
  { 'res.users': ['write'] },
  { 'res.users': ['create', 'write'], 'account.tax': ['create'] },
  { 'res.users': ['create', 'write', 'unlink'], 'account.tax': ['create', 'write', 'unlink'] },
].map((named) => ({ origins: ['*'], models: { '*': ['*'], ...named } }));

let pair: Pair;
const keys: string[] = [];

beforeAll(async () => {
  pair = await startPair((socket, { body }) =>
    answerLikeOdoo(socket, printResult(body.includes('"fields_get"') ? JSON.stringify(TYPES) : 'true')),
  );
  for (const policy of POLICIES)
    keys.push((await pair.proxy.app.keys.create({ name: 'limited', policy })).key);
});
afterAll(() => pair.close());

type Command = { kind: 'set' | 'add' | 'remove' | 'delete'; ids: number[] } | { kind: 'clear' } | Written;
interface Written {
  kind: 'create' | 'update';
  rows: Row[];
}
type Row = { name?: string } & Record<string, Command[] | string | undefined>;

const ids = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 });
const { row } = fc.letrec<{ row: Row }>((tie) => ({
  row: fc.dictionary(
    fc.constantFrom(...LINKS),
    fc.uniqueArray(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.record({ kind: fc.constantFrom('set' as const, 'add', 'remove', 'delete'), ids }),
        fc.record({ kind: fc.constant('clear' as const) }),
        fc.record({
          kind: fc.constantFrom('create' as const, 'update'),
          rows: fc.array(tie('row') as fc.Arbitrary<Row>, { maxLength: 2 }),
        }),
      ) as fc.Arbitrary<Command>,
      { selector: ({ kind }) => kind, maxLength: 3 },
    ),
    { maxKeys: 3, noNullPrototype: true },
  ) as fc.Arbitrary<Row>,
}));

const print = (row: Row, printCommands: (commands: Command[]) => unknown) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, printCommands(value as Command[])]));

function printObjects(commands: Command[]): unknown {
  return Object.fromEntries(
    commands.map((command) => {
      if (command.kind === 'clear') return ['clear', true];
      if ('ids' in command) return [command.kind, command.ids];
      const rows = command.rows.map((row) => print(row, printObjects));
      return [command.kind, command.kind === 'create' ? rows : rows.map((row) => ({ id: 4, ...row }))];
    }),
  );
}

function printPositional(commands: Command[]): unknown[] {
  return commands.flatMap((command): unknown[] => {
    if (command.kind === 'clear') return [[5, 0, 0]];
    if (command.kind === 'set') return [[6, 0, command.ids]];
    if ('ids' in command) return command.ids.map((id) => [NUMBERS[command.kind], id, 0]);
    const rows = command.rows.map((row) => print(row, printPositional));
    return rows.map((row) => (command.kind === 'create' ? [0, 0, row] : [1, 4, row]));
  });
}
const NUMBERS = { delete: 2, remove: 3, add: 4, set: 6 };

type Case = [values: Row, model: string, policy: number, method: string];
const ALLOWED: Case = [{}, 'res.partner', 0, 'write'];
const DENIED: Case = [{ user_ids: [{ kind: 'set', ids: [2] }] }, 'res.partner', 0, 'write'];

test('a call with commands as objects is allowed exactly if its converted form is', async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      row,
      fc.constantFrom(...MODELS),
      fc.nat(POLICIES.length - 1),
      fc.constantFrom('create', 'write'),
      async (values, model, policy, method) => {
        const call = async (written: object, headers: Record<string, string>) => {
          const params = method === 'create' ? [written] : [[1], written];
          const before = pair.upstream.requests.length;
          const { json } = await pair.proxy.call(
            printCall(pair.upstream.url, {
              action: JSON.stringify(method),
              model_id: JSON.stringify(model),
              params: JSON.stringify(params),
            }),
            { 'x-proxy-api': keys[policy]!, ...headers },
          );
          const sent = pair.upstream.requests
            .slice(before)
            .map(({ body }) => JSON.parse(body.toString()).params.args)
            .filter(([, , , , sentMethod]) => sentMethod === method)
            .map(([, , , , , sentParams]) => sentParams);
          return { outcome: json.error?.data.type ?? 'ok', sent };
        };
        const positional = await call(print(values, printPositional), {});
        const objects = await call(print(values, printObjects), { prefer: 'values=normalized' });
        expect(objects).toEqual(positional);
        outcomes.add(positional.outcome);
      },
    ),
    { examples: [ALLOWED, DENIED], numRuns: countCases(250) },
  );
  expect([...outcomes].sort()).toEqual(['ok', 'policy_denied']);
});

test.each([
  ['{"favorite_user_ids": {"set": [2]}}', 'ok'],
  ['{"user_ids": {"set": [2]}}', 'policy_denied'],
  ['{"user_ids": {"sett": [2]}}', 'policy_denied'],
  ['{"name": {"id": 3}, "favorite_user_ids": {"add": ["x"]}}', 'policy_denied'],
  ['{"child_ids": {"add": ["x"]}}', 'invalid_params'],
])('a write of %s is answered with %s', async (values, type) => {
  const { json } = await pair.proxy.call(
    printCall(pair.upstream.url, { action: '"write"', params: `[[1], ${values}]` }),
    { 'x-proxy-api': keys[0]!, prefer: 'values=normalized' },
  );
  expect(json.error?.data.type ?? 'ok').toBe(type);
});

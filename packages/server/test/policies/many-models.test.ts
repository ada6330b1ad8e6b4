/** Tests rules for fields in calls that reach many models. */
import { beforeAll, expect, test } from 'vitest';
import { closeAfterFile } from '../close-after-test.ts';
import { printCall, printInstance } from '../execute/expectations.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

/** More models than one call may reach. */
const MANY = 300;
/** The code of a person is the `vat` of a partner. */
const FIELDS: Record<string, object> = {
  'x.person': {
    partner_id: { type: 'many2one', relation: 'res.partner' },
    code: { type: 'char', related: ['partner_id', 'vat'] },
  },
  'x.start': {
    person_id: { type: 'many2one', relation: 'x.person' },
    ...Object.fromEntries(
      Array.from({ length: MANY }, (_, index) => [
        `other${index}_id`,
        { type: 'many2one', relation: `x.other${index}` },
      ]),
    ),
  },
};

let upstream: ScriptedUpstream;
let proxy: RunningProxy;
let key: string;
beforeAll(async () => {
  upstream = closeAfterFile(
    await startUpstream((socket, { body }) => {
      const [, model = ''] = /"([^"]+)",\s*"fields_get"/.exec(body.toString()) ?? [];
      const own = FIELDS[model] ?? { amount: { type: 'integer' } };
      answerLikeOdoo(socket, printResult(model === '' ? '5' : JSON.stringify(own)));
    }),
  );
  proxy = closeAfterFile(await startProxy({ allow: [upstream.url] }));
  const policy = {
    origins: [upstream.url],
    models: { 'x.*': ['search_count', 'read'] },
    fields: { 'res.partner': { deny: ['vat'] } },
  };
  ({ key } = await proxy.app.keys.create({ name: 'limited', policy }));
});

/** Counts the records that meet all of the conditions. */
async function count(paths: readonly string[]) {
  const domain = paths.map((path) => [path, '!=', 5]);
  const members = {
    action: '"search_count"',
    model_id: '"x.start"',
    params: JSON.stringify([domain]),
    erp_instance: printInstance(upstream.url),
  };
  return (await proxy.call(printCall('', members), { 'x-proxy-api': key })).json;
}

const listPaths = (length: number) => Array.from({ length }, (_, index) => `other${index}_id.amount`);

test('a path over a related field is denied, however many other models the call reaches', async () => {
  expect((await count(['person_id.code'])).error.data.rule).toBe('fields["res.partner"]');
  for (const length of [63, 64, 65, 112]) {
    const { error } = await count([...listPaths(length), 'person_id.code']);
    expect(error?.data.rule, `${length} models before`).toBe('fields["res.partner"]');
  }
  expect((await count(listPaths(112))).result).toBe(5);
});

test('a call that reaches more models than the proxy asks for is refused', async () => {
  const { error } = await count(listPaths(MANY));
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'fields["res.partner"]' });
  expect(error.message).toContain('more than 256 models');
});

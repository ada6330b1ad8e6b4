/** Tests the answer of `default_get` to a key with rules for fields. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';

/** Odoo's answer to a call that names `parent_id` of a partner: it has a field that the call does not name. */
const DEFAULTS = '{"parent_id": 7,  "company_id": 1.0, "lang": "fr_FR"}';
const TYPES =
  '{"parent_id": {"type": "many2one"}, "lang": {"type": "char"}, "company_id": {"type": "many2one"}, "child_ids": {"type": "one2many", "relation": "res.partner"}}';

async function start(fields: Policy['fields'], defaults = DEFAULTS) {
  const upstream = closeAfterTest(
    await startUpstream((socket, { head, body }) => {
      const result = head.includes('fields_get') || body.includes('fields_get') ? TYPES : defaults;
      answerLikeOdoo(socket, head.includes('/json/2/') ? result : printResult(result));
    }),
  );
  const proxy = closeAfterTest(await startProxy({ allow: [upstream.url] }));
  const policy = { origins: [upstream.url], models: { 'res.partner': ['*'] }, fields: fields! };
  const { key } = await proxy.app.keys.create({ name: 'limited', policy });
  const instance = { url: upstream.url, db: 'demo', api_key: 'upstream-key-0123456789' };
  const headers = { 'x-proxy-api': key };
  return {
    upstream,
    async execute(names: unknown, more: object = {}, extra: Record<string, string> = {}, second?: unknown) {
      const body = {
        id: 1,
        action: 'default_get',
        model_id: 'res.partner',
        params: second === undefined ? [names] : [names, second],
        keyword: more,
        erp_instance: { ...instance, user_id: 2 },
      };
      return (await proxy.call(body, { ...headers, ...extra })).body.toString();
    },
    async json2(names: unknown) {
      const body = {
        id: '1',
        model_id: 'res.partner',
        method: 'default_get',
        kwargs: { fields: names },
        odoo_instance: instance,
      };
      const answer = await send(`${proxy.url}/v2/odoo/execute`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return answer.body.toString();
    },
  };
}

const DENY = { 'res.partner': { deny: ['vat'] } };

test('is cut too if the rules for related records ask for types of fields', async () => {
  const { execute, upstream } = await start(DENY);
  const context = { default_child_ids: [[0, 0, { name: 'a' }]] };
  expect(await execute(['parent_id'], { context })).toContain('"result":{"parent_id": 7}');
  expect(upstream.requests.map(({ body }) => body.includes('fields_get'))).toEqual([true, false]);
});

test('has only the fields that the call names, as Odoo printed them', async () => {
  const { execute, json2 } = await start(DENY);
  expect(await execute(['parent_id'])).toContain('"result":{"parent_id": 7}');
  expect(await execute(['lang', 'company_id', 'city'])).toContain(
    '"result":{"company_id": 1.0, "lang": "fr_FR"}',
  );
  expect(await execute(['city'])).toContain('"result":{}');
  expect(await json2(['parent_id'])).toContain('{"parent_id": 7}');
  expect(await json2(['parent_id'])).not.toContain('company_id');
});

test('has them too if ids come first, as some models of Odoo 18 want them', async () => {
  const { execute } = await start({ 'sale.order': { deny: ['name'] } });
  expect(await execute([], {}, {}, ['parent_id'])).toContain('"result":{"parent_id": 7}');
});

test('is cut also if it is long, and if it is stored for an idempotency key', async () => {
  const long = `{"company_id": "${'x'.repeat(300_000)}", "parent_id": 7}`;
  const { execute, upstream } = await start(DENY, long);
  expect(await execute(['parent_id'])).toContain('"result":{"parent_id": 7}');
  const once = { 'idempotency-key': 'one' };
  const first = await execute(['parent_id'], {}, once);
  const { length } = upstream.requests;
  expect(await execute(['parent_id'], {}, once)).toBe(first);
  expect(upstream.requests).toHaveLength(length);
  expect(first).not.toContain('company_id');
});

test('is not passed on if it has no fields', async () => {
  const { execute } = await start(DENY, '[1]');
  expect(await execute(['parent_id'])).toContain('"upstream_bad_response"');
});

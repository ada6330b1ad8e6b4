/** Tests that the policies in the documentation are valid, and do what the text above them says. */
import { readFileSync } from 'node:fs';
import { compilePolicy } from '@erp-proxy/policy';
import { mayCall } from '@erp-proxy/policy/abilities';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { describe, expect, test } from 'vitest';
import { startLimited } from './limited-key.ts';

function readExamples(page: string): { title: string; text: string }[] {
  const source = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  return [...source.matchAll(/([^\n]+)\n\n```json\n([\s\S]*?)```/g)]
    .map(([, title = '', text = '']) => ({ title, text }))
    .filter(({ text }) => text.includes('"models"'));
}

const examples = ['policies.md', 'mcp.md'].flatMap(readExamples);

function readExample(words: string) {
  const { text } = examples.find(({ title }) => title.includes(words))!;
  const parsed = parsePolicy(JSON.parse(text));
  if (!('policy' in parsed)) throw new Error(JSON.stringify(parsed.errors));
  return parsed.policy;
}

const compileExample = (words: string) => compilePolicy(readExample(words));

test('the pages have policies', () => {
  expect(examples.length).toBeGreaterThan(7);
});

test.each(examples)('$title', ({ text }) => {
  expect(parsePolicy(JSON.parse(text))).not.toHaveProperty('errors');
});

describe('policies of agents', () => {
  test('the one that only reads can read everything, and change nothing', () => {
    const policy = compileExample('An agent that can only read');
    expect(mayCall(policy, 'account.move', 'search_read')).toBe(true);
    for (const method of ['create', 'write', 'unlink', 'action_post', 'message_post']) {
      expect(mayCall(policy, 'account.move', method)).toBe(false);
    }
  });

  test('the one that drafts can create and change, and neither confirm, post nor delete', () => {
    const policy = compileExample('An agent that may draft');
    for (const method of ['create', 'write'])
      expect(mayCall(policy, 'sale.order.template', method)).toBe(false);
    for (const model of ['sale.order', 'sale.order.line', 'account.move', 'account.move.line']) {
      for (const method of ['create', 'write']) expect(mayCall(policy, model, method)).toBe(true);
      for (const method of ['action_confirm', 'action_post', 'action_quotation_send', 'unlink']) {
        expect(mayCall(policy, model, method)).toBe(false);
      }
    }
  });

  test.each([14, 18, 19] as const)(
    'the one that drafts cannot do the same by values, on Odoo %i',
    async (version) => {
      const { models, fields } = readExample('An agent that may draft');
      const { call } = await startLimited({ models, fields: fields! }, version);
      const line = [0, 0, { product_id: 10, product_uom_qty: 2 }];
      const { result: id } = await call('create', 'sale.order', [{ partner_id: 10, order_line: [line] }]);
      expect((await call('write', 'sale.order', [[id], { note: 'x' }])).result).toBe(true);
      for (const denied of [
        await call('write', 'sale.order', [[id], { state: 'sale' }]),
        await call('create', 'sale.order', [{ partner_id: 10, state: 'sale' }]),
        await call('create', 'sale.order', [{ partner_id: 10 }], { context: { default_state: 'sale' } }),
        await call('write', 'sale.order.line', [[1], { order_id: [1, id, { state: 'sale' }] }]),
        await call('create', 'account.move', [{ auto_post: 'at_date' }]),
        await call('create', 'account.move', [{ payment_state: 'paid' }]),
      ])
        expect(denied.error.data.type).toBe('policy_denied');
      const [order] = (await call('search_read', 'sale.order', [[['id', '=', id]]])).result;
      expect(order).toHaveProperty('amount_total');
      expect(order).not.toHaveProperty('state');
    },
  );
});

/**
 * Tests what tools accept from people as they say it: their language, HTML in messages, and names of records in menus.
 */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';

interface Sent {
  model: string;
  method: string;
  args: unknown[];
  keyword: { context?: { lang?: string }; body_is_html?: boolean };
}

/** Resolves to a function that calls a tool, and to the calls that Odoo has got. */
async function startTools(answer: (sent: Sent) => unknown, policy?: Policy) {
  const sent: Sent[] = [];
  const post = await startWithScript((socket, { body }) => {
    const { args: [, , , model, method, args, keyword] = [] } = JSON.parse(body.toString()).params ?? {};
    const call = { model, method, args, keyword };
    sent.push(call);
    answerLikeOdoo(socket, printResult(JSON.stringify(answer(call) ?? null)));
  }, policy);
  const call = async (name: string, given: object) => {
    const params = { name, arguments: given };
    const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result;
  };
  return { sent, call };
}

test('a model is found by the name of the window that shows its records, in the language of the call', async () => {
  const { sent, call } = await startTools(({ model, method, args, keyword }) => {
    if (method === 'context_get') return { lang: 'en_US', tz: 'UTC' };
    const isGerman = keyword.context?.lang === 'de_DE' && JSON.stringify(args).includes('rechnung');
    if (method === 'fields_get') return { name: { type: 'char', string: 'Name', store: true } };
    if (model === 'ir.actions.act_window')
      return isGerman
        ? [
            { id: 1, res_model: 'account.move' },
            { id: 2, res_model: 'account.move' },
            { id: 3, res_model: 'x.dialog' },
          ]
        : [];
    return [
      { id: 1, model: 'x.dialog', name: 'Assistent' },
      { id: 2, model: 'account.move', name: 'Buchungssatz' },
    ];
  });
  const { content, structuredContent } = await call('list_models', { query: 'Rechnung', lang: 'de_DE' });
  expect(structuredContent?.models, content[0].text).toEqual([
    { model: 'account.move', name: 'Buchungssatz' },
    { model: 'x.dialog', name: 'Assistent' },
  ]);
  const asked = sent.find(({ model, method }) => model === 'ir.model' && method === 'search_read');
  expect(JSON.stringify(asked?.args)).toContain('"account.move"');
});

test('tools that read pass the language on, and keep labels of each language apart', async () => {
  const { sent, call } = await startTools(({ method, keyword }) => {
    if (method === 'context_get') return { lang: 'en_US', tz: 'UTC' };
    const lang = keyword.context?.lang;
    if (method === 'fields_get') return { name: { type: 'char', string: lang === 'fr_FR' ? 'Nom' : 'Name' } };
    return [{ id: 1, name: lang, __count: 1 }];
  });
  const labels = async (lang?: string) =>
    (await call('describe_model', { model: 'x.y', query: 'name', ...(lang && { lang }) })).structuredContent
      .fields[0];
  expect(await labels('fr_FR')).toMatchObject({ label: 'Nom', english: 'Name' });
  expect(await labels()).toMatchObject({ label: 'Name' });
  for (const [tool, more] of [
    ['search_records', {}],
    ['read_records', { ids: [1] }],
    ['aggregate_records', {}],
  ] as const) {
    sent.length = 0;
    await call(tool, { model: 'x.y', lang: 'fr_FR', ...more });
    // The proxy asks for types without a language.
    const named = sent.filter(({ method }) => method !== 'fields_get');
    expect(named.length).toBeGreaterThan(0);
    for (const { keyword } of named) expect(keyword.context).toMatchObject({ lang: 'fr_FR' });
  }
  const { content, isError } = await call('read_records', { model: 'x.y', ids: [1], lang: 'french' });
  expect(isError).toBe(true);
  expect(content[0].text).toMatch(/^invalid_params: `lang`: expected a language of Odoo, such as "fr_FR"/);
});

test.each(['sr@latin', 'sr@Cyrl', 'sw', 'es_419', 'ca_ES', 'kab_DZ'])(
  'Odoo has the language %s',
  async (lang) => {
    const { sent, call } = await startTools(({ method }) =>
      method === 'fields_get' ? { name: { type: 'char', string: 'Name' } } : [{ id: 1, name: 'x' }],
    );
    await call('read_records', { model: 'x.y', ids: [1], fields: ['name'], lang });
    expect(sent.find(({ method }) => method === 'read')?.keyword.context).toMatchObject({ lang });
  },
);

test.each<[string, object, boolean | undefined]>([
  ['a text', { body: 'Call 5 < 6 and b > a' }, undefined],
  ['HTML', { body: '<p>Call <b>first</b></p>' }, true],
  ['a line end in HTML', { body: 'one<br/>two' }, true],
  ['HTML that is meant as a text', { body: '<b>', body_is_html: false }, false],
])('the body of a message is sent as what it is: %s', async (_, keyword, expected) => {
  const models = { '*': ['*'] };
  const policy = { instances: ['prod'], models, unattended: { 'res.partner': ['message_post'] } };
  const { sent, call } = await startTools(({ method }) => (method === 'context_get' ? {} : 1), policy);
  const { content, isError } = await call('call_method', {
    model: 'res.partner',
    method: 'message_post',
    ids: [1],
    keyword,
  });
  expect(isError, content[0].text).toBeUndefined();
  const posted = sent.find(({ method }) => method === 'message_post');
  expect(posted?.keyword).toMatchObject(keyword);
  expect(posted?.keyword.body_is_html).toBe(expected);
});

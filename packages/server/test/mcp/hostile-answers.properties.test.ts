/**
 * Tests that whatever Odoo answers to the calls of a tool, the tool gives a short answer of the promised form, or a
 * clear error. Answers are random; the number after "seed" repeats a run, as SEED.
 */

import { ALL_TOOLS } from '@erp-proxy/agents/tools';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { createRandom } from '../seeded-random.ts';
import { startScriptedTools } from './scripted-odoo.ts';

/** An answer of a single record may be larger than a page. */
const ANSWER_LENGTH_MAX = 10_000;

/** JSON texts that a field or an answer can have. */
const HOSTILE = [
  ...['null', 'true', 'false', '0', '-1', '1.5', '1e300', '7', '9007199254740993'],
  ...['""', '"x"', '"é\\u202e"', '"__proto__"', '"1.2.3 kb"', '"9e9"', '"2026-01-01 00:00:00"'],
  ...['[]', '[null]', '[[]]', '[[null]]', '[5]', '[1,2]', '["a",1]', '[1,"a"]', '[{"toString":null}]'],
  ...['{}', '{"toString":1,"valueOf":2}', '{"__proto__":{"id":1}}', '{"constructor":{"prototype":1}}'],
  ...['{"id":1,"id":"x"}', '{"id":"1"}', '{"id":7}', '{"length":5}', '[{"id":7,"id":8}]'],
  `"${'x'.repeat(3000)}"`,
  `{"${'y'.repeat(9000)}":1}`,
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `[${Array.from({ length: 5000 }, (_, id) => `{"id":${id}}`).join(',')}]`,
];

const MODEL = 'res.partner';
const PATHS = ['line_ids.__proto__', '__proto__', 'partner_id.email', 'constructor', 'none'];
const CALLS: [string, object][] = [
  ['get_context', {}],
  ['list_models', { query: 'contact' }],
  ['describe_model', { model: MODEL }],
  ['describe_model', { model: MODEL, query: 'label x' }],
  ['describe_model', { model: MODEL, query: 'nmae' }],
  ['search_records', { model: MODEL, query: 'x' }],
  ['search_records', { model: MODEL, fields: ['partner_id.name', 'line_ids.name', 'none'] }],
  ['read_records', { model: MODEL, ids: [7] }],
  ['read_records', { model: MODEL, ids: [7], fields: PATHS }],
  ['count_records', { model: MODEL }],
  ['aggregate_records', { model: MODEL, group_by: ['date:month', 'partner_id'], measures: ['amount'] }],
  ['aggregate_records', { model: MODEL, group_by: ['date:year', '__proto__'], measures: ['date:max'] }],
  ['list_changes', { model: MODEL, limit: 1 }],
  ['read_file', { model: 'ir.attachment', id: 7 }],
  ['read_file', { model: MODEL, id: 7, field: 'datas' }],
  ['create_record', { model: MODEL, values: { name: 'x', amount: 1 } }],
  ['update_records', { model: MODEL, ids: [7], values: { name: 'x' } }],
  ['delete_records', { model: MODEL, ids: [7] }],
  ['call_method', { model: MODEL, method: 'action_open', ids: [7] }],
];

const ROUNDS = Math.round(countCases(800) / CALLS.length);
const ROUNDS_PER_TEST = 20;
const RUNS = Array.from({ length: Math.ceil(ROUNDS / ROUNDS_PER_TEST) }, (_, run) => run);

test.each(RUNS)('no answer of Odoo makes a tool fail, or its answer long: run %i', async (run) => {
  const rounds = Math.min(ROUNDS_PER_TEST, ROUNDS - run * ROUNDS_PER_TEST);
  const seed = run + Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`hostile answers: seed ${seed}\n`);
  const writer = createWriter(createRandom(seed));
  const said: string[] = [];
  const call = await startScriptedTools((method) => {
    const result = writer.answer(method);
    said.push(`${method}: ${result.slice(0, 500)}`);
    return result;
  });
  let answered = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [index, [name, args]] of CALLS.entries()) {
      said.length = 0;
      // The proxy keeps the fields of each model, so each call uses another model.
      const isOwn = 'model' in args && args.model === MODEL;
      const given = isOwn ? { ...args, model: `x.model${round}_${index}` } : args;
      const { isError, text } = await call(name, given);
      const context = `${name} ${JSON.stringify(args)}\n${said.join('\n')}\n${text.slice(0, 500)}`;
      expect(text, context).not.toMatch(/^internal/);
      expect(text.length, context).toBeLessThan(ANSWER_LENGTH_MAX);
      if (isError) continue;
      answered++;
      const parsed = ALL_TOOLS.find((tool) => tool.name === name)?.output.safeParse(JSON.parse(text));
      expect(parsed?.error?.issues ?? [], context).toEqual([]);
    }
  }
  expect(answered).toBeGreaterThan(rounds);
});

/** Writes answers of Odoo in which some parts are hostile. */
function createWriter(random: () => number) {
  const hostile = () => HOSTILE[Math.floor(random() * HOSTILE.length)] as string;
  const maybe = (good: string, share = 0.35) => (random() < share ? hostile() : good);
  /** `members`: JSON texts by name; null is always hostile. */
  const object = (members: Record<string, string | null>, share?: number) => {
    const printed = Object.entries(members).map(
      ([name, value]) => `"${name}":${value === null ? hostile() : maybe(value, share)}`,
    );
    return maybe(`{${printed.join(',')},"__proto__":${hostile()}}`, 0.1);
  };
  const list = (make: () => string) => maybe(`[${make()},${make()}]`, 0.1);
  const field = (type: string) =>
    object({
      type: `"${type}"`,
      string: '"Label"',
      help: '"help"',
      relation: '"res.partner"',
      selection: '[["a","A"]]',
      required: 'true',
      store: 'true',
      searchable: 'true',
      currency_field: '"currency_id"',
    });
  const fields = () =>
    object(
      {
        id: field('integer'),
        name: field('char'),
        email: field('char'),
        display_name: field('char'),
        partner_id: field('many2one'),
        line_ids: field('one2many'),
        date: field('datetime'),
        amount: field('monetary'),
        datas: field('binary'),
        body: field('html'),
        constructor: field('char'),
        active: field('boolean'),
        [`long${'z'.repeat(5000)}`]: field('char'),
      },
      0.1,
    );
  const row = () =>
    object({
      id: '7',
      name: '"Ann"',
      display_name: '"Ann"',
      model: '"res.partner"',
      partner_id: '[3,"Ann"]',
      line_ids: '[1,2]',
      company_ids: '[1]',
      currency_id: '[1,"EUR"]',
      date: '"2026-01-01 00:00:00"',
      write_date: '"2026-01-01 00:00:00"',
      amount: '5.5',
      body: '"<p>x</p>"',
      datas: '"12 bytes"',
      mimetype: '"text/plain"',
      file_size: '12',
    });
  const condition = (operator: string) => maybe(`["date","${operator}",${maybe('"2026-05-01"')}]`);
  const group = () =>
    object({
      partner_id: '[3,"Ann"]',
      'date:month': '"May 2026"',
      date: null,
      amount: '1',
      __count: '2',
      date_count: null,
      __range: object({ 'date:month': object({ from: '"2026-05-01"', to: '"2026-06-01"' }), date: null }),
      __domain: `["&",${condition('>=')},${condition('<')},${hostile()}]`,
      __extra_domain: random() < 0.5 ? 'false' : `[${condition('>=')},${condition('<')}]`,
    });
  const action = () =>
    object({
      type: '"ir.actions.act_window"',
      res_model: '"res.partner"',
      res_id: '7',
      target: '"new"',
      context: null,
      name: null,
    });
  const answers: Record<string, () => string> = {
    context_get: () => object({ lang: '"fr_FR"', tz: '"UTC"' }),
    fields_get: fields,
    read: () => list(row),
    search_read: () => list(row),
    read_group: () => list(group),
    search_count: () => maybe('3'),
    create: () => maybe('7'),
    action_open: action,
  };
  return { answer: (method: string) => answers[method]?.() ?? maybe('true') };
}

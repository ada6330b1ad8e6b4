/** Tests `types`: its output compiles, is the same each time, and describes the models of the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '@erp-proxy/sandbox';
import { beforeEach, describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { compile } from '../compile.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { startPair } from '../pair.ts';
import { makeFolder } from '../process/program.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { runCommand } from './run-command.ts';

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const run = (proxy: RunningProxy, args: readonly string[], key = proxy.key) =>
  runCommand(['types', '--url', proxy.url, ...args], { folder, env: { ERP_PROXY_KEY: key } });

/** The arguments of the command for the Odoo server at an address. */
function locate({
  url,
  db = 'prod',
  apiKey = 'upstream-key-0123456789',
}: {
  url: string;
  db?: string;
  apiKey?: string;
}) {
  writeFileSync(join(folder, 'key'), apiKey);
  return [url, '--db', db, '--user-id', '2', '--api-key-file', 'key'];
}

async function startOnSandbox(version: 14 | 18 | 19) {
  const odoo = closeAfterTest(await startSandbox({ version }));
  const proxy = closeAfterTest(
    await startProxy({ allow: [odoo.url], settings: { 'upstream.protocol': 'auto' } }),
  );
  return { odoo, proxy, args: locate({ ...odoo, apiKey: odoo.users.admin.apiKey }) };
}

/** An Odoo whose models have these fields. `defaults` is the answer to `default_get`. */
async function startWithFields(fields: Record<string, object>, defaults = printResult('{}')) {
  const pair = closeAfterTest(
    await startPair((socket, { body }) => {
      const [, , , model, method] = JSON.parse(body.toString()).params.args;
      const description = printResult(JSON.stringify(fields[model]));
      answerLikeOdoo(socket, method === 'default_get' ? defaults : description);
    }),
  );
  return { ...pair, args: locate(pair.upstream) };
}

/** The errors of the compiler for the file, and for code that uses it. */
function compileWith(code = ''): string {
  const head = `import { createClient } from '@erp-proxy/client';\nimport type * as models from './odoo.mts';\nconst client = createClient<models.Models>();\n`;
  writeFileSync(join(folder, 'use.mts'), head + code);
  return compile(folder, 'use.mts');
}

const read = () => readFileSync(join(folder, 'odoo.mts'), 'utf8');

describe.each([14, 18, 19] as const)('Odoo %i', (version) => {
  test('describes every model, in a file that compiles', async () => {
    const { proxy, args } = await startOnSandbox(version);
    const ran = await run(proxy, [...args, '--models', '*', '--output', 'odoo.mts']);
    // ir.model of the sandbox lists models of removed modules.
    expect(ran).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^(Left out: x_archive\..*\n)+$/),
    });
    expect(read()).toContain("  'res.partner': ResPartner;\n");
    expect(read()).toContain(
      "  /** Country */\n  country_id: { type: 'many2one'; relation: 'res.country' };\n",
    );
    const code = `
      const values: models.SaleOrderCreate = { partner_id: 9, order_line: [[0, 0, { name: 'x' }]] };
      const ready = client.model('sale.order').count([['partner_id.country_id.code', '=', 'BE'], ['state', '=', 'sale']]);
      const [first] = await client.model('res.partner').read([9], { fields: ['name', 'type'] });
      const order: models.SaleOrderRead<'normalized'>['partner_id'] = { id: 9, name: 'Wood Corner' };
      const update: models.SaleOrderUpdate<'normalized'> = { partner_id: order, order_line: { delete: [4] } };
      const type: 'contact' | 'invoice' | 'delivery' | 'other' | false | undefined = first?.type;
      client.model('sale.order').count([['state', '=', 'sold']]);
      export { values, ready, type, update };`;
    expect(compileWith(code).replaceAll(/^.*error TS\d+: /gm, '')).toBe(
      'Type \'"sold"\' is not assignable to type \'"cancel" | "draft" | "sale" | "sent" | false\'.\n',
    );
  });
});

test('writes the same text each time, and --check finds a difference', async () => {
  const { proxy, args, odoo } = await startOnSandbox(18);
  const models = [...args, '--models', 'res.country*, sale.order', '--output', 'odoo.mts'];
  await run(proxy, models);
  const written = read();
  expect([...written.matchAll(/^ {2}'([\w.]+)': /gm)].map(([, name]) => name)).toEqual([
    'res.country',
    'res.country.group',
    'res.country.state',
    'sale.order',
  ]);
  odoo.reset();
  expect(await run(proxy, [...models, '--check'])).toEqual({ status: 0, stdout: '', stderr: '' });
  writeFileSync(join(folder, 'odoo.mts'), written.replace("type: 'char'", "type: 'text'"));
  const checked = await run(proxy, [...models, '--check']);
  expect(checked.status).toBe(1);
  expect(checked.stderr).toMatch(/stale.*\n- .*'text'.*\n\+ .*'char'/);
  expect(read()).toContain("'text'");
});

test('without the right to read the list of models, models must be named', async () => {
  const { proxy, args, odoo } = await startOnSandbox(18);
  const policy = { origins: [odoo.url], models: { 'res.country': ['*'] } };
  const { key } = await proxy.app.keys.create({ name: 'app', policy });
  const refused = await run(proxy, [...args, '--models', 'res.*'], key);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(
    /list of models \(ir\.model\) cannot be read: [\s\S]*Name the models without \*/,
  );
  expect(await run(proxy, [...args, '--models', 'res.country'], key)).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(await run(proxy, [...args, '--models', 'res.partner'], key)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('res.partner: '),
  });
});

test('reports unknown models and patterns, and wrong options', async () => {
  const { proxy, args } = await startOnSandbox(18);
  const stderr = async (...more: string[]) => (await run(proxy, more)).stderr;
  expect(await stderr(...args, '--models', 'res.partnr')).toMatch(
    /^res\.partnr: Object res\.partnr doesn't exist\. Did you mean res\.partner( or [\w.]+)*\?\n$/,
  );
  expect(await stderr(...args, '--models', 'xyz')).toMatch(/^xyz: Object xyz doesn't exist\n$/);
  expect(await stderr(...args, '--models', 'sale.*,nothing.*')).toBe('No model matches nothing.*.\n');
  expect(await stderr(...args)).toMatch(/^Give the models/);
  expect(await stderr(...args, '--models', 'res partner')).toMatch(/is not the name or pattern/);
  expect(await stderr(...args, '--models', 'x', '--check')).toBe('--check needs --output.\n');
  expect(await stderr('--models', 'x')).toMatch(/^Give a stored instance/);
  expect(await stderr('--models', 'x', '--instance', 'prod', '--db', 'x')).toMatch(/leave the others out/);
});

test('hostile names, values and comments give right types', async () => {
  const fields = {
    class: {
      type: 'char',
      string: 'Ends */ here',
      help: 'One\r\ntwo\u2028three */ const x: never = 1;\u0000',
    },
    constructor: { type: 'char', string: ' ', required: true, store: true },
    'x-1': { type: 'integer', string: 'Custom' },
    '1st': { type: 'many2one', relation: "it's.a", string: 'Ä"`$`\\' },
    state: {
      type: 'selection',
      selection: [
        ["it's", ''],
        ['a"b\\', ''],
        ['new\nline\u2028', ''],
        [5, 'Five'],
      ],
    },
    tz: { type: 'selection', selection: Array.from({ length: 600 }, (_, at) => [`zone/${at}`, '']) },
    total: { type: 'monetary', required: true, store: false, readonly: true },
    opened: { type: 'date', readonly: true, states: { draft: [['readonly', false]] } },
    odd: { type: 'a new type' },
  };
  const models = { models: fields, 'x.y': fields, x_y: fields, 'x.y.read': fields, '3d': fields };
  const { proxy, args } = await startWithFields(models);
  const names = Object.keys(models).join(',');
  expect(await run(proxy, [...args, '--models', names, '-o', 'odoo.mts'])).toMatchObject({
    status: 0,
    stderr: '',
  });
  const code = `
    const state: "it's" | 'a"b\\\\' | 'new\\nline\\u2028' | 5 | false = (await client.model('x_y').read([1]))[0]!.state;
    const all: models.Models['x.y.read']['class'] = { type: 'char' };
    const tz: string | false = (await client.model('3d').read([1]))[0]!.tz;
    client.model('models').update(1, { opened: false, constructor: 'x', 'x-1': 1, '1st': 4, class: null, odd: {} });
    export { state, all, tz };`;
  expect(compileWith(code)).toBe('');
  expect(read()).not.toMatch(/\p{Cc}(?<!\n)|\u2028/u);
});

test('the buttons of the form are known methods', async () => {
  const arch = `<form><header><button name="action_confirm" string="a &gt; b" type="object"/>
    <button type="object" name="action_cancel" invisible="1"/><button name="%(base.action)d" type="action"/>
    <button name="action_confirm" type="object"></button></header><field name="name"/>
    <field name="order_line"><tree><button name="action_of_line" type="object"/></tree></field></form>`;
  const described = { id: { type: 'integer', readonly: true }, name: { type: 'char' } };
  const pair = closeAfterTest(
    await startPair((socket, { body }) => {
      const [, , , , method] = JSON.parse(body.toString()).params.args;
      const result = method === 'get_view' ? { arch } : method === 'default_get' ? {} : described;
      answerLikeOdoo(socket, printResult(JSON.stringify(result)));
    }),
  );
  const args = [...locate(pair.upstream), '--models', 'sale.order', '-o', 'odoo.mts'];
  expect(await run(pair.proxy, args)).toMatchObject({ status: 0, stderr: '' });
  expect(read()).toContain(
    "export interface SaleOrder extends Methods<'action_cancel' | 'action_confirm'> {\n",
  );
  const code = `
    const order: models.SaleOrderRead = { id: 1, name: 'S1' };
    await client.model('sale.order').call('action_confirm', [[1]]);
    await client.model('sale.order').call('another_method', [[1]]);
    export { order };`;
  expect(compileWith(code)).toBe('');
});

test('relations to account.root have texts as ids where Odoo does not store them', async () => {
  const root = { type: 'many2one', relation: 'account.root' };
  const fields = {
    id: { type: 'integer' },
    old_root_id: { ...root, store: true },
    root_id: { ...root, store: false },
  };
  const { proxy, args } = await startWithFields({ 'account.account': fields });
  await run(proxy, [...args, '--models', 'account.account', '-o', 'odoo.mts']);
  const code = `
    const [account] = await client.model('account.account').read([1]);
    const old: number | false = account!.old_root_id && account!.old_root_id[0];
    const id: string | false = account!.root_id && account!.root_id[0];
    export { old, id };`;
  expect(compileWith(code)).toBe('');
});

test('describes which required fields a new record needs: those without a default, as far as Odoo tells', async () => {
  const required = { required: true, store: true };
  const fields = {
    given: { type: 'char', ...required },
    filled: { type: 'char', ...required },
    computed: { type: 'char', ...required, depends: ['given'] },
    fixed: { type: 'char', ...required, readonly: true },
    flag: { type: 'boolean', ...required },
    tag_ids: { type: 'many2many', ...required, relation: 'tag' },
    // The field of the record that this model inherits from, and a field of that record.
    parent_id: { type: 'many2one', ...required, relation: 'parent' },
    label: { type: 'char', ...required, related: 'parent_id.label' },
    old_id: { type: 'many2one', ...required, relation: 'parent' },
    old_label: { type: 'char', ...required, related: ['old_id', 'label'] },
  };
  const describe = async (defaults: string) => {
    const { proxy, args } = await startWithFields({ note: fields }, defaults);
    const ran = await run(proxy, [...args, '--models', 'note']);
    const needed = [...ran.stdout.matchAll(/^ {2}(\w+): .* noDefault: true/gm)].map(([, name]) => name);
    return { ...ran, needed };
  };
  expect((await describe(printResult('{"filled": "x"}'))).needed).toEqual(['given']);
  expect((await describe(printResult('[]'))).needed).toEqual([]);
  const fault = '"code": 200, "message": "Odoo Server Error", "data": ';
  const refused = `{"jsonrpc": "2.0", "id": 1, "error": {${fault}{"name": "odoo.exceptions.UserError", "message": "No.", "debug": "", "arguments": ["No."], "context": {}}}}`;
  expect(await describe(refused)).toMatchObject({ status: 0, needed: [] });
  const passing = `{"jsonrpc": "2.0", "id": 1, "error": {${fault}{"name": "psycopg2.errors.SerializationFailure", "message": "could not serialize access due to concurrent update", "debug": "", "arguments": [], "context": {}}}}`;
  expect(await describe(passing)).toMatchObject({ status: 1, stdout: '' });
});

test('fifty models of the size of those of Odoo cost the compiler less than an empty program', async () => {
  const models = describeModels();
  const { proxy, args } = await startWithFields(models);
  const names = Object.keys(models);
  const ran = await run(proxy, [...args, '--models', names.join(','), '--output', 'odoo.mts']);
  expect(ran).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(names).toHaveLength(50);
  writeFileSync(join(folder, 'empty.mts'), 'export {};');
  const countTypes = (file: string) => {
    const printed = compile(folder, file, {}, ['--extendedDiagnostics']);
    expect(printed).not.toContain('error');
    return Number(/^Types:\s+(\d+)/m.exec(printed)?.[1]);
  };
  // The number of types is the same in each run, while the time is not.
  const empty = countTypes('empty.mts');
  expect(empty).toBeGreaterThan(1000);
  expect(countTypes('odoo.mts')).toBeLessThan(2 * empty);
});

/** Approximate numbers of fields in an Odoo with accounting, sales, stock and projects. */
const MODEL_SIZES: Record<string, number> = {
  ...{ 'account.move': 260, 'res.partner': 210, 'product.template': 170, 'product.product': 190 },
  ...{ 'sale.order': 160, 'res.company': 220, 'res.users': 240, 'project.task': 150, 'stock.picking': 140 },
  ...{ 'purchase.order': 120, 'account.move.line': 150, 'crm.lead': 140, 'hr.employee': 200 },
  ...{ 'project.project': 130, 'stock.move': 120, 'sale.order.line': 120, 'account.payment': 140 },
};
const OTHER_MODELS = 33;
const OTHER_FIELDS = 50;

/**
 * Models whose fields are described like those in the recordings of Odoo 18 and 19: with their labels, help, selections
 * and relations. The recordings have some forty fields, so they are repeated.
 */
function describeModels(): Record<string, Record<string, object>> {
  const all = ['19.0-doc.jsonl', '19.0-jsonrpc.jsonl', '18.0-jsonrpc.jsonl'].flatMap((file) =>
    readFileSync(new URL(`../../../sandbox/recordings/${file}`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => /^\{"name": "(?:model-|fields-get)/.test(line))
      .flatMap((line) => readFields(JSON.parse(line).response.body)),
  );
  const recorded = [...new Map(all)];
  expect(recorded.length).toBeGreaterThan(30);
  const others = Array.from(
    { length: OTHER_MODELS },
    (_, index) => [`x.model${index}`, OTHER_FIELDS] as const,
  );
  const sizes = [...Object.entries(MODEL_SIZES), ...others];
  const relate = (field: { relation?: string }, at: number) =>
    field.relation === undefined || field.relation in MODEL_SIZES
      ? field
      : { ...field, relation: sizes[at % sizes.length]![0] };
  return Object.fromEntries(
    sizes.map(([model, size]) => [
      model,
      Object.fromEntries(
        Array.from({ length: size }, (_, at) => {
          const [name, field] = recorded[at % recorded.length]!;
          return [at < recorded.length ? name : `${name}_${at}`, relate(field, at)];
        }),
      ),
    ]),
  );
}

/** The fields that are complete in the body of an answer. The recorder has cut a part out of its middle. */
function readFields(body: unknown): [name: string, field: { relation?: string }][] {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const descriptions = text.matchAll(
    /"(\w+)": (\{"change_default": (?:(?!"change_default").)*?"type": "\w+"[^{}]*\})/gs,
  );
  return [...descriptions].flatMap(([, name, description]) => {
    try {
      return [[name!, JSON.parse(description!)]];
    } catch {
      return [];
    }
  });
}

test('an answer that does not describe fields, or is too large, is an error', async () => {
  const huge = { type: 'char', help: 'x'.repeat(65 * 1024 * 1024) };
  const { proxy, args } = await startWithFields({ list: [], bad: { name: 'char' }, huge: { name: huge } });
  const stderr = async (model: string) => (await run(proxy, [...args, '--models', model])).stderr;
  expect(await stderr('list')).toBe('list: the answer does not describe fields.\n');
  expect(await stderr('bad')).toBe('bad: the answer does not describe the field name.\n');
  expect(await stderr('huge')).toMatch(/^huge: .*larger than 67108864 bytes/);
});

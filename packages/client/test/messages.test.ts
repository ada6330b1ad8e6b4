/**
 * Mistakes that the types refuse, and the compiler's messages for them: each marks the wrong word and names the right
 * ones. Compiles all mistakes as lines of one file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { compile } from '../../server/test/compile.ts';
import { makeFolder } from '../../server/test/process/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The mistake, the word that is marked, and the beginning of the message. */
const MISTAKES: [code: string, marked: string, message: string | RegExp][] = [
  [
    "client.model('res.partnr')",
    "'res.partnr'",
    'Argument of type \'"res.partnr"\' is not assignable to parameter of type \'"res.country" | "res.partner" | "sale.order"\'.',
  ],
  [
    "orders.searchRead([], { fields: ['nam'] })",
    "'nam'",
    'Type \'"nam"\' is not assignable to type \'"amount_total" | "id" | "name" | "partner_id" | "state"\'. Did you mean \'"name"\'?',
  ],
  [
    "orders.read([1], { fields: ['name'] }).then(([row]) => row?.state)",
    'state',
    "Property 'state' does not exist on type '{ id: number; name: string; }'.",
  ],
  [
    "orders.count([['nam', '=', 'x']])",
    "'nam'",
    'Type \'"nam"\' is not assignable to type \'"amount_total" | "id" | "name" | "partner_id" | "state"\'. Did you mean \'"name"\'?',
  ],
  [
    "orders.count([['partner_id.country_id.cod', '=', 'BE']])",
    "'partner_id.country_id.cod'",
    'Type \'"partner_id.country_id.cod"\' is not assignable to type \'"partner_id.country_id.code" | "partner_id.country_id.id" | "partner_id.country_id.name"\'. Did you mean \'"partner_id.country_id.code"\'?',
  ],
  [
    "orders.count([['amount_total', 'ilike', 'x']])",
    "'ilike'",
    'Type \'"ilike"\' is not assignable to type \'"!=" | "<" | "<=" | "=" | ">" | ">=" | "in" | "not in"\'.',
  ],
  ["orders.count([['name', '==', 'x']])", "'=='", /^Type '"=="' is not assignable to type '"!="/],
  [
    "orders.count(['|', ['name', '=', 'x'], ['state', '=', 'sold']])",
    "'sold'",
    'Type \'"sold"\' is not assignable to type \'"cancel" | "draft" | "sale" | "sent" | false\'.',
  ],
  ["orders.count([['amount_total', '>', '5']])", "'5'", "Type 'string' is not assignable to type 'number'."],
  [
    "orders.count([['partner_id', 'any', [['nme', '=', 'x']]]])",
    "'nme'",
    /^Type '"nme"' is not assignable to type .* Did you mean '"name"'\?$/,
  ],
  [
    "orders.count([['id', 'in', 5]])",
    '5',
    "Type 'number' is not assignable to type 'readonly (number | false)[]'.",
  ],
  ["orders.search([], { order: 'name desc, stat' })", 'order', /Did you mean '"name desc, state"'\?$/],
  ["orders.search([], { order: 'name down' })", 'order', /is not assignable to type '"name asc" \|/],
  ['orders.search([], { limt: 5 })', 'limt', /Did you mean to write 'limit'\?$/],
  [
    "orders.update(1, { nam: 'x' })",
    'nam',
    "Object literal may only specify known properties, but 'nam' does not exist in type 'Update<Models, \"sale.order\", \"odoo\">'. Did you mean to write 'name'?",
  ],
  [
    "orders.update(1, { state: 'sale' })",
    'state',
    'Object literal may only specify known properties, and \'state\' does not exist in type \'Update<Models, "sale.order", "odoo">\'.',
  ],
  [
    "partners.create({ type: 'invoce' })",
    'type',
    'Type \'"invoce"\' is not assignable to type \'"contact" | "delivery" | "invoice" | "other" | false | null | undefined\'. Did you mean \'"invoice"\'?',
  ],
  ['partners.create({ name: false })', 'name', "Type 'boolean' is not assignable to type 'string'."],
  [
    "partners.create({ country_id: 'BE' })",
    'country_id',
    "Type 'string' is not assignable to type 'number | false | null | undefined'.",
  ],
  ['partners.create({ child_ids: [12] })', '12', /^Type 'number' is not assignable to type 'X2manyCommand</],
  [
    'partners.create({ child_ids: [[7, 0, 0]] })',
    '7',
    "Type '7' is not assignable to type '0 | 1 | 2 | 3 | 4 | 5 | 6'.",
  ],
  [
    "partners.create({ child_ids: [[6, 0, ['x']]] })",
    "'x'",
    "Type 'string' is not assignable to type 'number'.",
  ],
  ["partners.create({ child_ids: [[0, 0, { nme: 'x' }]] })", 'nme', /'nme' does not exist in type/],
  [
    "partners.upsert('emal', [])",
    "'emal'",
    /^Argument of type '"emal"' is not assignable to parameter of type '"active"/,
  ],
  [
    'orders.create({})',
    '{}',
    /^Argument of type '{}' is not assignable to parameter of type 'Create<Models, "sale.order"/,
  ],
  [
    "createClient({ values: 'normal' })",
    'values',
    /^Type '"normal"' is not assignable to type 'ValueForm \| undefined'/,
  ],
  [
    "contacts.create({ name: 'x', country_id: [20, 'Belgium'] })",
    'country_id',
    /^Type '\[number, string\]' is not assignable to type 'number | {/,
  ],
  ['contacts.create({ email: false })', 'email', "Type 'boolean' is not assignable to type 'string'."],
  ['contacts.create({ child_ids: { ad: [4] } })', 'ad', /'ad' does not exist in type .*X2manyChanges/],
  [
    'contacts.read([1]).then(([row]) => row?.country_id?.nam)',
    'nam',
    "Property 'nam' does not exist on type '{ id: number; name: string | null; }'. Did you mean 'name'?",
  ],
  ["contacts.upsert('create_date', [])", "'create_date'", /^Argument of type '"create_date"'/],
  ["partners.read(['1'])", "'1'", "Type 'string' is not assignable to type 'number'."],
];

const HEAD = `
import { createClient } from '@erp-proxy/client';
import type { Models } from '${ROOT}packages/client/test/models.fixture.ts';
const client = createClient<Models>();
const orders = client.model('sale.order');
const partners = client.model('res.partner');
const normalized = createClient<Models>({ values: 'normalized' });
const contacts = normalized.model('res.partner');
`;

let found: Map<string, { marked: string; message: string }>;

beforeAll(() => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'mistakes.mts'), HEAD + MISTAKES.map(([code]) => `${code};\n`).join(''));
  const changes = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  found = readMessages(compile(folder, 'mistakes.mts', changes));
});

test.each(MISTAKES)('%s marks %s', (code, marked, message) => {
  expect(found.get(code)?.message).toMatch(message);
  expect(found.get(code)?.marked).toMatch(new RegExp(`^${marked.replaceAll('.', '\\.')}`));
});

test('the client itself compiles without the types of Node', () => {
  expect([...found.keys()].filter((code) => !MISTAKES.some(([known]) => known === code))).toEqual([]);
});

const MESSAGE =
  /^(.+)\((\d+),(\d+)\): error TS\d+: (?:No overload matches this call\.\n +The last overload .*\n +)?(.*)$/gm;

/**
 * Reads the messages by line: the text from the marked place on, and the line of the message that says what is wrong.
 */
function readMessages(output: string): typeof found {
  const lines = HEAD.split('\n')
    .slice(0, -1)
    .concat(MISTAKES.map(([code]) => code));
  const messages = [...output.matchAll(MESSAGE)];
  return new Map(
    messages.map(([all, file = '', line, column, message = '']) => {
      const code = file.endsWith('mistakes.mts') ? (lines[Number(line) - 1] ?? '') : all;
      return [code, { marked: code.slice(Number(column) - 1), message }];
    }),
  );
}

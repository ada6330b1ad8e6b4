/** Tests valid policies, and the errors of invalid policies. */
import type { Policy } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { parsePolicy } from './parse.ts';

const GOOD: Policy = { instances: ['prod'], models: { 'res.partner': ['read'] } };

/** `path: message` of each error. */
function listErrors(value: unknown): string[] {
  const parsed = parsePolicy(value);
  return 'errors' in parsed ? parsed.errors.map(({ path, message }) => `${path}: ${message}`) : [];
}

test('accepts every member unchanged', () => {
  const policy: Policy = {
    instances: ['prod', 'shop-*'],
    origins: [
      'https://erp.example.com',
      'https://*.example.com:8069',
      'http://10.0.0.*',
      'http://[::1]:8069',
      '*',
    ],
    dbs: ['prod', 'test_*'],
    models: { 'res.partner': ['read', 'search*', '*'], 'sale.*': ['*'], '*': ['fields_get'] },
    approve: { 'res.partner': ['read', 'w*'], 'sale.*': ['action_confirm'], '*': ['unlink'] },
    read_only: false,
    companies: [3, 1],
    context: { lang: 'fr_FR', tz: 'Europe/Paris', allowed_company_ids: [3] },
    limit_max: 100,
    rate: { requests: 10, seconds: 60, burst: 20 },
    per_day: 1000,
    per_month: 20_000,
    concurrency: 4,
    cidrs: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '0.0.0.0/0', '::ffff:10.0.0.0/104'],
    cors_origins: ['https://shop.example.com', 'capacitor://localhost'],
  };
  expect(parsePolicy(policy)).toEqual({ policy });
  expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ policy });
});

test('reports all errors at once, each with its path', () => {
  const errors = listErrors({
    instances: [],
    orgins: ['https://erp.example.com'],
    models: { 'res.*': ['read', 'wri?e'], 'sale order': ['read'] },
    companies: [0],
    limit_max: 0,
    rate: { request: 1, seconds: 60, burst: 0 },
  });
  const paths = errors.map((error) => error.slice(0, error.indexOf(': ')));
  expect(paths.sort()).toEqual(
    [
      'companies[0]',
      'instances',
      'limit_max',
      'models["res.*"][1]',
      'models["sale order"]',
      'orgins',
      'rate.burst',
      'rate.request',
      'rate.requests',
    ].sort(),
  );
  expect(errors).toContain('orgins: is not known; did you mean `origins`?');
});

describe('refuses', () => {
  test.each([null, 'read', 7, ['read']])('other values than objects: %j', (value) => {
    expect(listErrors(value)).toHaveLength(1);
  });

  test.each(['a?', 'a**', '[ab]', '!a', '{a,b}'])('wildcards other than `*`: %s', (pattern) => {
    const message = '`*` is the only wildcard, and stands for any text';
    expect(listErrors({ ...GOOD, instances: [pattern] })).toEqual([`instances[0]: ${message}`]);
    expect(listErrors({ ...GOOD, models: { 'res.partner': [pattern] } })).toEqual([
      `models["res.partner"][0]: ${message}`,
    ]);
    expect(listErrors({ ...GOOD, models: { [pattern]: ['read'] } })).toEqual([
      `models[${JSON.stringify(pattern)}]: ${message}`,
    ]);
  });

  test.each<[string, object, string]>([
    ['no server', { models: GOOD.models }, ''],
    ['no models', { instances: ['prod'] }, 'models'],
    ['models without an entry', { ...GOOD, models: {} }, 'models'],
    ['a model without methods', { ...GOOD, models: { 'res.partner': [] } }, 'models["res.partner"]'],
    ['databases without origins', { ...GOOD, dbs: ['prod'] }, 'dbs'],
    [
      'a method that writes in a read-only policy',
      { ...GOOD, read_only: true, models: { 'sale.*': ['read', 'write'] } },
      'models["sale.*"][1]',
    ],
    ['a private method', { ...GOOD, models: { 'res.partner': ['_read'] } }, 'models["res.partner"][0]'],
    [
      'call_method in place of a method',
      { ...GOOD, models: { 'res.partner': ['call_method'] } },
      'models["res.partner"][0]',
    ],
    ['an entry twice', { ...GOOD, instances: ['prod', 'prod'] }, 'instances[1]'],
    ['an entry that is not a text', { ...GOOD, instances: [7] }, 'instances[0]'],
    ['an empty entry', { ...GOOD, instances: [''] }, 'instances[0]'],
    ['an entry that is too long', { ...GOOD, instances: ['a'.repeat(201)] }, 'instances[0]'],
    ['a text in place of a list', { ...GOOD, instances: 'prod' }, 'instances'],
    ['read_only that is not a boolean', { ...GOOD, read_only: 'yes' }, 'read_only'],
    ['cache that is not a boolean', { ...GOOD, cache: 1 }, 'cache'],
    ['a limit that is not an integer', { ...GOOD, limit_max: 1.5 }, 'limit_max'],
    ['a concurrency of 0', { ...GOOD, concurrency: 0 }, 'concurrency'],
    ['a rate without its time', { ...GOOD, rate: { requests: 5 } }, 'rate.seconds'],
    ['no companies', { ...GOOD, companies: [] }, 'companies'],
    ['a company twice', { ...GOOD, companies: [1, 1] }, 'companies[1]'],
    ['no addresses', { ...GOOD, cidrs: [] }, 'cidrs'],
    ['no browser origins', { ...GOOD, cors_origins: [] }, 'cors_origins'],
  ])('%s', (_, value, path) => {
    expect(listErrors(value).map((error) => error.slice(0, error.indexOf(': ')))).toEqual([path]);
  });

  test.each(['10.0.0.1/8', '10.0.0.0/33', '10.0.0', '0x7f.1', 'erp.example.com', 'fe80::1%eth0', '10.*'])(
    'the network %s',
    (cidr) => {
      expect(listErrors({ ...GOOD, cidrs: [cidr] })).toHaveLength(1);
    },
  );

  test.each([
    'erp.example.com',
    'https://erp.example.com/',
    'https://erp.example.com/odoo',
    'https://user@erp.example.com',
    'https://erp.example.com:99999',
    'https://erp.example.com:*',
    '*://erp.example.com',
    'ftp://erp.example.com',
    'http://0x7f.1',
    'http://127.1',
    'https://bücher.example',
    'https://erp .example.com',
  ])('the origin %s', (origin) => {
    expect(listErrors({ ...GOOD, origins: [origin] })).toHaveLength(1);
  });

  test('more than a thousand entries, with one error', () => {
    const many = Array.from({ length: 1001 }, (_, index) => `i${index}?`);
    expect(listErrors({ ...GOOD, instances: many })).toHaveLength(1);
    expect(listErrors({ ...GOOD, models: { a: many.slice(500), b: many.slice(0, 500) } })).toHaveLength(1);
    expect(listErrors(Object.fromEntries(many.map((name) => [name, 1])))).toHaveLength(1);
  });
});

describe('a publishable policy', () => {
  const PUBLISHABLE: Policy = {
    instances: ['prod'],
    models: { 'product.template': ['*'], 'res.country': ['read', 'search*'] },
    fields: { 'product.*': { allow: ['name'] }, 'res.country': { allow: ['name'] } },
    read_only: true,
    cors_origins: [
      'https://shop.example.com',
      'http://localhost:5173',
      'http://127.0.0.1',
      'http://[::1]:80',
    ],
    publishable: true,
  };

  test('is accepted unchanged', () => {
    expect(parsePolicy(PUBLISHABLE)).toEqual({ policy: PUBLISHABLE });
  });

  test('names the fields of each model, unless it was stored before they were needed', () => {
    const needed = (fields: Policy['fields']) => listErrors({ ...PUBLISHABLE, fields });
    const product =
      'fields: must list the fields of `product.template` that any visitor of the page may read, e.g. {"product.template": {"allow": ["name", "list_price", "currency_id", "description_sale", "categ_id"]}}';
    const { fields, ...open } = PUBLISHABLE;
    expect(listErrors(open)).toEqual([product, expect.stringContaining('`res.country`')]);
    expect(needed({ 'res.country': { allow: ['name'] } })).toEqual([product]);
    expect(needed({ ...fields, 'product.*': { deny: ['standard_price'] } })).toEqual([product]);
    expect(parsePolicy(open, { isStored: true })).toEqual({ policy: open });
  });

  test.each<[string, object, string]>([
    ['writes', { read_only: false }, 'read_only'],
    ['a missing `read_only`', { read_only: undefined }, 'read_only'],
    ['a method that writes', { models: { 'res.country': ['write'] } }, 'models["res.country"][0]'],
    ['a method that nobody knows', { models: { 'res.country': ['run_it'] } }, 'models["res.country"][0]'],
    ['no origin', { cors_origins: undefined }, 'cors_origins'],
    ['any origin', { cors_origins: ['*'] }, 'cors_origins[0]'],
    ['a pattern of origins', { cors_origins: ['https://*.example.com'] }, 'cors_origins[0]'],
    ['plain http', { cors_origins: ['http://shop.example.com'] }, 'cors_origins[0]'],
    [
      'a host that only begins as a local one',
      { cors_origins: ['http://localhost.example.com'] },
      'cors_origins[0]',
    ],
    ['another scheme', { cors_origins: ['capacitor://localhost'] }, 'cors_origins[0]'],
    ['all models', { models: { '*': ['read'] } }, 'models["*"]'],
    ['a pattern of models', { models: { 'product.*': ['*'] } }, 'models["product.*"]'],
    [
      'a model with credentials',
      { models: { 'delivery.carrier': ['read'] } },
      'models["delivery.carrier"][0]',
    ],
    ['a pattern of instances', { instances: ['pro*'] }, 'instances[0]'],
    ['credentials in the call', { origins: ['https://erp.example.com'] }, 'origins'],
  ])('is refused with %s', (_, changes, path) => {
    const value = JSON.parse(JSON.stringify({ ...PUBLISHABLE, ...changes }));
    for (const [member, change] of Object.entries(changes)) if (change === undefined) delete value[member];
    expect(listErrors(value).map((error) => error.slice(0, error.indexOf(': ')))).toEqual([path]);
    expect(listErrors({ ...value, publishable: 'yes' })).not.toEqual([]);
  });
});

describe('fields', () => {
  const fieldsOf = (fields: unknown) => ({ instances: ['prod'], models: { 'res.*': ['read'] }, fields });

  test.each([
    [{ 'res.partner': { deny: ['vat', 'signup_*'] } }],
    [{ 'res.partner': { allow: ['id', 'name'] }, '*': { deny: ['password*'] } }],
  ])('%j is accepted unchanged', (fields) => {
    expect(parsePolicy(fieldsOf(fields))).toEqual({ policy: fieldsOf(fields) });
  });

  test.each<[unknown, string, string]>([
    ['vat', 'fields', 'must name models and their fields'],
    [{}, 'fields', 'must name models and their fields'],
    [{ 'res partner': { deny: ['vat'] } }, 'fields["res partner"]', 'can never match'],
    [{ 'res.partner': ['vat'] }, 'fields["res.partner"]', 'must be an object'],
    [{ 'res.partner': {} }, 'fields["res.partner"]', 'names no fields: give either `allow`'],
    [
      { 'res.partner': { deny: ['a'], allow: ['b'] } },
      'fields["res.partner"]',
      'has both `allow` and `deny`',
    ],
    [{ 'res.partner': { deny: [] } }, 'fields["res.partner"].deny', 'is empty'],
    [{ 'res.partner': { deny: ['vat', 'vat'] } }, 'fields["res.partner"].deny[1]', 'appears twice'],
    [
      { 'res.partner': { deny: ['id'] } },
      'fields["res.partner"].deny[0]',
      'would deny `id`, which Odoo returns',
    ],
    [{ 'res.partner': { deny: ['*'] } }, 'fields["res.partner"].deny[0]', 'would deny `id`'],
    [{ 'res.partner': { deny: ['parent_id.vat'] } }, 'fields["res.partner"].deny[0]', 'is a path'],
    [{ 'res.partner': { allow: ['na me'] } }, 'fields["res.partner"].allow[0]', 'can never match'],
    [{ 'res.partner': { allow: [7] } }, 'fields["res.partner"].allow[0]', 'must be a text'],
  ])('%j is refused', (fields, path, message) => {
    expect(listErrors(fieldsOf(fields))).toEqual([expect.stringContaining(`${path}: ${message}`)]);
  });

  test('an unknown member is refused with the nearest name', () => {
    expect(listErrors(fieldsOf({ 'res.partner': { denied: ['vat'] } })).join()).toContain(
      'did you mean `fields["res.partner"].deny`?',
    );
  });

  test('its entries count', () => {
    const deny = Array.from({ length: 1001 }, (_, index) => `f${index}`);
    expect(listErrors(fieldsOf({ 'res.partner': { deny } }))).toEqual([
      expect.stringContaining('at most 1000 entries'),
    ]);
  });
});

describe('context', () => {
  test.each<[string, object, string[]]>([
    ['no object', { context: 'fr_FR' }, ['context']],
    ['a list', { context: [] }, ['context']],
    ['an empty object', { context: {} }, ['context']],
    ['an unknown member', { context: { lang: 'fr_FR', timezone: 'UTC' } }, ['context.timezone']],
    ['a language with a hyphen', { context: { lang: 'fr-FR' } }, ['context.lang']],
    ['an empty language', { context: { lang: '' } }, ['context.lang']],
    ['a language that is no text', { context: { lang: 7 } }, ['context.lang']],
    ['an unknown time zone', { context: { tz: 'Europe/Pariss' } }, ['context.tz']],
    ['an offset', { context: { tz: '+02:00' } }, ['context.tz']],
    ['null', { context: { tz: null, lang: 'fr_FR' } }, ['context.tz']],
    ['no company', { context: { allowed_company_ids: [] } }, ['context.allowed_company_ids']],
    ['a company twice', { context: { allowed_company_ids: [1, 1] } }, ['context.allowed_company_ids[1]']],
    ['a company by name', { context: { allowed_company_ids: ['1'] } }, ['context.allowed_company_ids[0]']],
    [
      'companies that `companies` does not name',
      { companies: [1, 2], context: { allowed_company_ids: [1, 3, 4] } },
      ['context.allowed_company_ids[1]', 'context.allowed_company_ids[2]'],
    ],
  ])('is refused with %s', (_, members, paths) => {
    const errors = listErrors({ ...GOOD, ...members });
    expect(errors.map((error) => error.slice(0, error.indexOf(': ')))).toEqual(paths);
  });

  test.each(['fr', 'fr_FR', 'es_419', 'kab_DZ', 'sr@latin', 'sr_RS@latin'])(
    'takes the language %s',
    (lang) => {
      expect(listErrors({ ...GOOD, context: { lang } })).toEqual([]);
    },
  );

  test('may name companies that `companies` does not restrict', () => {
    expect(listErrors({ ...GOOD, context: { allowed_company_ids: [9] } })).toEqual([]);
  });
});

test('treats `__proto__` and `constructor` as unknown members', () => {
  const value: unknown = JSON.parse(
    '{"instances":["prod"],"models":{"a":["read"]},"__proto__":{},"constructor":1}',
  );
  expect(listErrors(value).map((error) => error.split(':')[0])).toEqual(['__proto__', 'constructor']);
});

describe('unattended', () => {
  const parse = (unattended: unknown) => listErrors({ ...GOOD, unattended });

  test('names models and methods, and is not empty', () => {
    expect(parse({ 'res.*': ['w*'] })).toEqual([]);
    expect(parse({})).toEqual([expect.stringMatching(/^unattended: must name models and their methods/)]);
    expect(parse({ 'res.partner': [] })).toEqual([
      expect.stringMatching(/^unattended\["res.partner"\]: is empty/),
    ]);
    expect(parse(['unlink'])[0]).toMatch(/^unattended: /);
  });

  test('does not name a method that `models` does not allow', () => {
    expect(parse({ 'res.partner': ['unlink'] })).toEqual([
      expect.stringMatching(
        /^unattended\["res.partner"\]\[0\]: never applies: `models` does not allow `unlink`/,
      ),
    ]);
  });
});

describe('approve', () => {
  const parse = (approve: unknown, more: object = {}) => listErrors({ ...GOOD, ...more, approve });

  test('is checked like models', () => {
    expect(parse({})).toEqual([expect.stringMatching(/^approve: must name models and their methods/)]);
    expect(parse({ 'res.partner': [] })).toEqual([
      expect.stringMatching(/^approve\["res.partner"\]: is empty/),
    ]);
    expect(parse({ 'res.partner': ['rea?'] })[0]).toMatch(/^approve\["res.partner"\]\[0\]: `\*` is the only/);
    expect(parse({ 'res partner': ['read'] })[0]).toMatch(/^approve\["res partner"\]: /);
  });

  test('may not name a method that models does not allow, because it would never apply', () => {
    expect(parse({ 'res.partner': ['read', 'unlink'] })).toEqual([
      'approve["res.partner"][1]: never applies: `models` does not allow `unlink` of `res.partner`, so that the call is denied. Allow it there, or take it out here',
    ]);
    expect(parse({ 'sale.order': ['read'] })).toHaveLength(1);
    expect(parse({ 'sale.order': ['read'] }, { models: { 'sale.*': ['re*'] } })).toEqual([]);
    for (const open of [{ '*': ['unlink'] }, { 'res.partner': ['*'] }]) expect(parse(open)).toEqual([]);
  });

  test('must be left out for a publishable key', () => {
    const publishable = {
      publishable: true,
      read_only: true,
      cors_origins: ['https://shop.example.com'],
    };
    expect(parse({ 'res.partner': ['read'] }, publishable)).toEqual([
      'approve: must be left out: any visitor of the page could ask for approvals',
    ]);
  });
});

describe('data', () => {
  const parse = (data: unknown, more: object = {}) => listErrors({ ...GOOD, ...more, data });

  test('names what moves data', () => {
    expect(parse(['export', 'changes', 'files', 'subscriptions'])).toEqual([]);
    expect(parse([])[0]).toMatch(/^data: is empty/);
    expect(parse(['export', 'file', 'export'])).toEqual([
      expect.stringMatching(/^data\[1\]: must be one of export, changes, files, documents, subscriptions/),
      expect.stringMatching(/^data\[2\]: /),
    ]);
    expect(parse('export')[0]).toMatch(/^data: /);
  });

  test('must be left out for a publishable key', () => {
    const publishable = { publishable: true, read_only: true, cors_origins: ['https://shop.example.com'] };
    expect(parse(['export'], publishable)).toEqual([
      'data: must be left out: any visitor of the page could copy all records',
    ]);
  });
});

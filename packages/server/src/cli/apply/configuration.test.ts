import { describe, expect, test } from 'vitest';
import { type Configuration, readConfiguration } from './configuration.ts';

function read(text: string): Configuration {
  const outcome = readConfiguration(`${text}\n`);
  if ('errors' in outcome) throw new Error(JSON.stringify(outcome.errors));
  return outcome.configuration;
}

function findErrors(text: string): string[] {
  return listErrors(`${text}\n`);
}

function listErrors(text: string, options?: { requiresEnd: boolean }): string[] {
  const outcome = readConfiguration(text, options);
  return 'errors' in outcome ? outcome.errors.map(({ line, message }) => `${line}: ${message}`) : [];
}

describe('policies', () => {
  test('are resolved: later ones take precedence member by member, and models are merged by pattern', () => {
    const { keys } = read(`
policies:
  base: { instances: [prod], limit_max: 100, models: { "res.partner": [read], "sale.*": ["*"] } }
  slow: { rate: { requests: 1, seconds: 1 }, limit_max: 50, models: {} }
  shop: { extends: [base, slow], models: { "res.partner": ["search*"], product.product: [read] } }
keys:
  - { name: by name, policy: shop }
  - { name: inline, policy: { extends: base, limit_max: 7 } }
  - { name: anything, policy: null }
`);
    expect(keys.map(({ members }) => members.policy)).toEqual([
      {
        instances: ['prod'],
        limit_max: 50,
        rate: { requests: 1, seconds: 1 },
        models: { 'res.partner': ['search*'], 'sale.*': ['*'], 'product.product': ['read'] },
      },
      { instances: ['prod'], limit_max: 7, models: { 'res.partner': ['read'], 'sale.*': ['*'] } },
      null,
    ]);
  });

  test('that others extend need not be complete, and unused ones are checked too', () => {
    expect(
      findErrors(
        'policies:\n  part: { limit_max: 5 }\n  whole: { extends: part, instances: [a], models: { a: [read] } }',
      ),
    ).toEqual([]);
    expect(findErrors('policies:\n  alone: { instances: [a] }')).toEqual([
      expect.stringMatching(/^2: models/),
    ]);
  });

  test('that extend each other in a circle are refused, each circle once, with its path', () => {
    const text = `policies:
  a: { extends: b }
  b: { extends: [c] }
  c: { extends: a }
  self: { extends: self }
keys: [{ name: k, policy: a }]`;
    expect(findErrors(text)).toEqual([
      '4: policies extend each other in a circle: a → b → c → a',
      '5: policies extend each other in a circle: self → self',
    ]);
  });

  test.each([
    ['the first first', (policies: string[]) => policies],
    ['the last first', (policies: string[]) => policies.toReversed()],
  ])('extend each other 32 times in a row and no more, %s', (_, order) => {
    const chain = (length: number) => {
      const above = Array.from({ length }, (_, at) => `  p${at}: { extends: p${at + 1} }`);
      const below = `  p${length}: { instances: [a], models: { a: [read] } }`;
      return `policies:\n${order([...above, below]).join('\n')}`;
    };
    expect(findErrors(chain(32))).toEqual([]);
    expect(findErrors(chain(33))).toEqual([expect.stringMatching(/^\d+: more than 32 policies extend/)]);
    expect(findErrors(chain(1000))).toContainEqual(expect.stringMatching(/^\d+: more than 32 policies/));
  });

  test('that are missing are named, with the most similar name', () => {
    const text = `policies:
  shop: { extends: bse, instances: [a], models: { a: [read] } }
  base: { instances: [a], models: { a: [read] } }
keys:
  - { name: k, policy: shpo }`;
    expect(findErrors(text)).toEqual([
      '5: this file has no policy "shpo"; the nearest is "shop"',
      '2: this file has no policy "bse"; the nearest is "base"',
    ]);
  });

  test('report an error once, on the line of its member, even if several extend it', () => {
    const text = `policies:
  base:
    instances: [prod]
    limit_mx: 5
    models:
      res.partner:
        - read
        - "?"
  one: { extends: base }
  two: { extends: base, limit_max: 0 }`;
    const errors = findErrors(text);
    expect(errors).toHaveLength(3);
    expect(errors).toContainEqual(expect.stringMatching(/^4: limit_mx: .*limit_max/));
    expect(errors).toContainEqual(expect.stringMatching(/^8: models\["res\.partner"\]\[1\]: /));
    expect(errors).toContainEqual(expect.stringMatching(/^10: limit_max: /));
  });
});

describe('instances', () => {
  test('have the given members and the place of their key', () => {
    const { instances } = read(`
instances:
  - { name: prod, url: "https://a.example", db: prod, user_id: 2, api_key: { env: KEY } }
  - name: other
    timeout_ms: 500
    api_key: { file: ./key }
`);
    expect(instances).toEqual([
      {
        line: 3,
        name: 'prod',
        members: { url: 'https://a.example', db: 'prod', user_id: 2 },
        secret: { line: 3, source: { env: 'KEY' } },
      },
      {
        line: 4,
        name: 'other',
        members: { timeout_ms: 500 },
        secret: { line: 6, source: { file: './key' } },
      },
    ]);
  });

  test.each(['hunter2', '{ env: hunter2, file: hunter2 }', '{ value: hunter2 }', '[hunter2]'])(
    'with a plain key (%s) are refused, without showing it',
    (key) => {
      const [error, ...more] = findErrors(`instances:\n  - name: prod\n    api_key: ${key}`);
      expect(error).toMatch(/^3: a secret does not stand in this file: write api_key: { env:/);
      expect(error).not.toContain('hunter2');
      expect(more).toEqual([]);
    },
  );
});

test.each(['ERP_PROXY_ADMIN_TOKEN', 'erp_proxy_vault_master_key'])(
  'refuses a setting of the proxy as the key of an instance: %s',
  (variable) => {
    const text = `instances:\n  - name: prod\n    api_key: { env: ${variable} }`;
    expect(findErrors(text)).toEqual([
      expect.stringMatching(/^3: variables whose names begin with ERP_PROXY_/),
    ]);
  },
);

test('reports every error at once, each with its line', () => {
  const text = `keys:
  - { name: k, policy: { instances: [a], models: { a: [] } } }
  - { name: k, policy: null }
  - { policy: null }
  - { name: only }
  - text
instances:
  - { name: prod, usr_id: 3, user_id: -1, timeout_ms: soon }
  - { name: prod }
polices: {}`;
  const errors = findErrors(text);
  for (const expected of [
    /^2: models\["?a"?\]: |^2: models\.a: /,
    /^3: "k" stands twice in keys/,
    /^4: a key needs a `name`/,
    /^5: a key needs `policy`/,
    /^6: a key must hold members/,
    /^8: an instance has no member "usr_id"; the nearest is "user_id"/,
    /^8: `user_id` must be/,
    /^8: `timeout_ms` must be/,
    /^9: "prod" stands twice in instances/,
    /^10: the file has no member "polices"; the nearest is "policies"/,
  ]) {
    expect(errors).toContainEqual(expect.stringMatching(expected));
  }
  expect(errors).toHaveLength(10);
});

test.each(['"sh\u200bop"', '"shop\u2028"', 'x'.repeat(201)])('refuses an invalid key name: %s', (name) => {
  expect(findErrors(`keys: [{ name: ${name}, policy: null }]`)).toEqual([
    expect.stringMatching(/^1: a key needs a `name`: /),
  ]);
});

describe('an ambiguous or incomplete file is refused:', () => {
  test.each([
    ['empty', ''],
    ['comments alone', '# nothing\n'],
    ['a name twice', 'keys:\n  - { name: a, policy: null, name: b }'],
    ['an alias', 'keys: [&a { name: k, policy: null }, *a]'],
    ['a tag', 'keys: [{ name: !secret k, policy: null }]'],
    ['two documents', 'keys: []\n---\nkeys: []'],
    ['a list', '- keys'],
    ['tabs', 'keys:\n\t- name: k'],
    ['a value that is not a number', 'keys: [{ name: k, policy: { limit_max: .nan } }]'],
    ['a name that is not a text', 'keys: [{ name: 5, policy: null }]'],
  ])('%s', (_, text) => {
    expect(findErrors(text)).not.toEqual([]);
  });

  test('cut off within a line', () => {
    const whole =
      'keys:\n  - name: shop\n    policy: { instances: [prod], models: { res.partner: [read] } }\n';
    for (const ending of ['', '...\n', '... # end\n\n', '\r\n']) {
      expect(listErrors(whole + ending)).toEqual([]);
    }
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.slice(0, length);
      if (!cut.endsWith('\n')) expect(listErrors(cut), cut).not.toEqual([]);
    }
    expect(listErrors('keys:\n  - { name: shop, policy: null }')).toEqual([
      expect.stringMatching(/^2: the last line has no line break: /),
    ]);
  });

  test('cut off anywhere, if the end mark is required', () => {
    const whole =
      'keys:\n  - name: shop\n    policy:\n      instances: [prod]\n      models: { "a.*": ["*"] }\n      cidrs: [10.0.0.0/16]\n...\n';
    expect(listErrors(whole, { requiresEnd: true })).toEqual([]);
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.slice(0, length);
      expect(listErrors(cut, { requiresEnd: true }), cut).not.toEqual([]);
    }
    const text = 'keys:\n  - { name: "...", policy: null }\n# ...\n';
    expect(listErrors(text, { requiresEnd: true })).toEqual([
      expect.stringMatching(/^3: the end mark is missing: /),
    ]);
  });
});

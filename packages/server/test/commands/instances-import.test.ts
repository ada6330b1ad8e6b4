/** Tests `erp-proxy instances import`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../process/program.ts';
import { runCommand } from './run-command.ts';

const env = { ERP_PROXY_VAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
const SECRET = 'odoo-secret-0123456789';

function start() {
  const folder = makeFolder();
  const run = (...args: string[]) => runCommand(['instances', ...args], { folder, env });
  return {
    run,
    importFile(name: string, text: string, ...args: string[]) {
      writeFileSync(join(folder, name), text);
      return run('import', name, ...args);
    },
    async list() {
      const { stdout } = await run('list', '--json');
      return stdout === '' ? [] : JSON.parse(stdout);
    },
  };
}

const CSV = `\uFEFFname,url,db,user_id,api_key,tags,timeout_ms
client-a,https://a.example.com,a,2,${SECRET},"eu, live",
"client-b",https://b.example.com,b,7,"${SECRET}",eu,5000\r
`;

test('stores the instances of a CSV file after a dry run, and does not print their keys', async () => {
  const { importFile, list } = start();
  const dry = await importFile('clients.csv', CSV, '--dry-run');
  expect(dry).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\+ client-a .*Nothing is stored;/s),
  });
  expect(await list()).toEqual([]);
  const done = await importFile('clients.csv', CSV, '--tags', 'imported');
  expect(done).toMatchObject({ status: 0 });
  expect(done.stdout).toMatch(/^2 instances are stored; 0 were stored already\.$/m);
  expect(await list()).toMatchObject([
    { name: 'client-a', db: 'a', user_id: 2, tags: ['eu', 'live', 'imported'], timeout_ms: null },
    { name: 'client-b', user_id: 7, tags: ['eu', 'imported'], timeout_ms: 5000 },
  ]);
  const again = await importFile('clients.csv', CSV, '--json');
  expect(JSON.parse(again.stdout)).toEqual({
    dry_run: false,
    instances: [
      { name: 'client-a', state: 'kept' },
      { name: 'client-b', state: 'kept' },
    ],
  });
  for (const { stdout, stderr } of [dry, done, again]) expect(stdout + stderr).not.toContain(SECRET);
});

test('stores the instances of a list in YAML', async () => {
  const { importFile, list } = start();
  const yaml = `- name: client-a
  url: https://a.example.com
  user_id: 2
  api_key: ${SECRET}
  tags: [eu]
`;
  expect(await importFile('clients.yaml', yaml)).toMatchObject({ status: 0 });
  expect(await list()).toMatchObject([{ name: 'client-a', db: 'client-a', tags: ['eu'] }]);
});

test('stores the databases that odoo.com lists, for persons with keys of their own', async () => {
  const { importFile, list } = start();
  const databases = [
    { name: 'shop', login: 'me@example.com', version: '18.0+e', url: 'https://shop.odoo.com' },
    { name: 'works', login: 'me@example.com', version: '19.0+e', url: 'https://works.odoo.com' },
  ];
  for (const text of [
    JSON.stringify(databases),
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: databases }),
  ])
    expect(await importFile('databases.json', text, '--identity', 'person')).toMatchObject({ status: 0 });
  expect(await list()).toMatchObject([
    { name: 'shop', url: 'https://shop.odoo.com', db: 'shop', identity: 'person', user_id: null },
    { name: 'works' },
  ]);
  const { status, stderr } = await importFile(
    'more.json',
    '[{"name": "new", "url": "https://new.odoo.com"}]',
  );
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/^more\.json:1: `user_id` /m),
  });
});

test.each<[string, string, string, RegExp]>([
  ['an unknown column', 'a.csv', 'name,ulr\na,b\n', /^a\.csv:1: .*"ulr"; did you mean "url"\?$/m],
  ['a column twice', 'a.csv', 'name,name\na,b\n', /^a\.csv:1: the column "name" is there twice$/m],
  [
    'a line with too few cells',
    'a.csv',
    'name,url\n\nb\n',
    /^a\.csv:3: the line has 1 cells, and the first line has 2$/m,
  ],
  ['an open quote', 'a.csv', `name,api_key\na,"${SECRET}\n`, /^a\.csv:2: a quote is not closed/m],
  ['no instance', 'a.csv', 'name,url\n', /^a\.csv:1: the file has no instances$/m],
  [
    'a wrong number',
    'a.csv',
    `name,url,user_id,api_key\na,https://a.example.com,x,${SECRET}\n`,
    /^a\.csv:2: `user_id` must be/m,
  ],
  [
    'a name twice',
    'a.csv',
    `name,url,user_id,api_key\na,https://a.example.com,2,${SECRET}\na,https://b.example.com,2,${SECRET}\n`,
    /^a\.csv:3: line 2 has the same `name`$/m,
  ],
  ['no list', 'a.yaml', 'name: a\n', /^a\.yaml:1: the file must have a list of instances$/m],
  ['a wrong item', 'a.yaml', '- a\n', /^a\.yaml:1: an instance must be an object$/m],
  ['an unknown member', 'a.yaml', '- name: a\n  ulr: b\n', /^a\.yaml:2: .*did you mean "url"\?$/m],
  [
    'a wrong address after a right one',
    'a.yaml',
    `- {name: a, url: "https://a.example.com", user_id: 2, api_key: ${SECRET}}\n- name: b\n  url: ftp://b\n  user_id: 2\n  api_key: ${SECRET}\n`,
    /^a\.yaml:3: `url` /m,
  ],
])('refuses %s by its line, and stores nothing', async (_what, name, text, message) => {
  const { importFile, list } = start();
  const { status, stdout, stderr } = await importFile(name, text);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr).toContain('Nothing is stored.');
  expect(stderr).not.toContain(SECRET);
  expect(await list()).toEqual([]);
});

test('refuses an instance that is stored with another address', async () => {
  const { importFile } = start();
  await importFile('clients.csv', CSV);
  const { status, stderr } = await importFile('clients.csv', CSV.replace('//b.', '//other.'));
  expect(status).toBe(2);
  expect(stderr).toMatch(/^clients\.csv:3: an instance of this name is stored with another `url`/m);
});

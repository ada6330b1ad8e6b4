/**
 * Tests the code of the pages for developers: the compiler checks TypeScript, and all code that calls the proxy runs
 * against a sandbox. In tables, the language of a column is in its heading. Code for other libraries is only parsed.
 * blocks.heavy.test.ts checks every block of every page by its language.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { compile } from '../compile.ts';
import { makeFolder, runProgram as runErpProxy } from '../process/program.ts';
import { hasCommand, runProgram, type Shop, startShop } from './shop.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const calling = readFileSync(join(root, 'docs/calling.md'), 'utf8');
const values = readFileSync(join(root, 'docs/values.md'), 'utf8');
const moving = readFileSync(join(root, 'docs/moving.md'), 'utf8');
const execute = readFileSync(join(root, 'docs/execute.md'), 'utf8');
const policies = readFileSync(join(root, 'docs/policies.md'), 'utf8');
const PAGE = 'https://shop.example.com';
/** A call that the first policy of each page allows. */
const CALL_OF_EXPLAIN = JSON.stringify({
  action: 'read',
  model_id: 'res.partner',
  params: [[1]],
  erp_instance: { name: 'prod' },
});
const python = readFileSync(join(root, 'docs/python.md'), 'utf8');
const pythonReadme = readFileSync(join(root, 'packages/python/README.md'), 'utf8');
/** Python finds the client here. */
const PYTHON_ENV = { PYTHONPATH: join(root, 'packages/python/src') };
const CREATE_CLIENT = "import { createClient } from '@erp-proxy/client';\nconst client = createClient();\n";

let shop: Shop;
beforeEach(async () => {
  shop = await startShop();
});
afterEach(() => shop.close());

test.each([
  ['calling.md', calling],
  ['values.md', values],
  ['execute.md', execute],
])('the command line calls of %s print the answers that it shows', async (_, page) => {
  const blocks = listBlocks('sh', page);
  const calls = blocks.filter((block) => block.startsWith('curl '));
  const shown = listBlocks('json', page)
    .map((block) => block.trim())
    .filter((block) => block.includes('"jsonrpc"'));
  const answers = [];
  for (const block of calls) {
    // The shell only splits the command into words, because curl may be missing.
    const named = block
      .replace('<client key>', '$ERP_PROXY_KEY')
      .replace("'x-proxy-api: $ERP_PROXY_KEY'", '"x-proxy-api: $ERP_PROXY_KEY"');
    const line = `curl() { printf '%s\\n--\\n' "$@"; }; ${named.replace('http://127.0.0.1:8787', '$ERP_PROXY_URL')}`;
    const { stdout } = await runProgram(['sh', '-c', line], shop);
    const words = stdout.split('\n--\n');
    const headers = words.filter((_, index) => words[index - 1] === '-H').map((header) => header.split(': '));
    const body = words[words.indexOf('-d') + 1] as string;
    const answer = await fetch(words[0] as string, {
      method: 'POST',
      headers: Object.fromEntries(headers),
      body,
    });
    answers.push(await answer.text());
  }
  // Times are hidden: the sandbox created its records when it started.
  const hideTimes = (texts: readonly string[]) =>
    texts.map((text) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '<time>'));
  expect(hideTimes(answers)).toEqual(hideTimes(shown));
  expect(blocks.filter((block) => !block.startsWith('curl ') && !block.startsWith('erp-proxy '))).toEqual([]);
});

test.each([
  ['TypeScript', 'ts', [process.execPath, 'page.mts'], 'page.mts'],
  ['Python', 'python', ['python3', 'page.py'], 'page.py'],
  ['PHP', 'php', ['php', 'page.php'], 'page.php'],
] as const)('%s of calling.md changes only records that it has made', async (_, language, words, file) => {
  const source = listBlocks(language).join('\n');
  // An id in the text would change some other record on a reader's server.
  expect(source).not.toMatch(/\[\[\d+\]|\[\d+\],/);
  if (!hasCommand(words[0])) return;
  const read = async (model: string, fields: string[]): Promise<{ id: number }[]> => {
    const call = { action: 'search_read', model_id: model, params: [[]], keyword: { fields, order: 'id' } };
    const { json } = await shop.proxy.call(JSON.stringify({ ...call, erp_instance: { name: 'prod' } }));
    return json.result;
  };
  const readAll = async () => ({
    partners: await read('res.partner', ['name', 'email', 'active']),
    orders: await read('sale.order', ['name', 'state', 'partner_id']),
  });
  const before = await readAll();
  const folder = makeFolder();
  const client = `'${root}packages/client/src/index.ts'`;
  const head = language === 'php' ? '<?php\n' : '';
  writeFileSync(join(folder, file), head + source.replaceAll("'@erp-proxy/client'", client));
  const ran = await runProgram([words[0], join(folder, words[1])], shop, { env: PYTHON_ENV });
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  const after = await readAll();
  const known = (rows: { id: number }[], of: { id: number }[]) =>
    rows.filter(({ id }) => of.some((row) => row.id === id));
  expect(known(after.partners, before.partners)).toEqual(before.partners);
  expect(known(after.orders, before.orders)).toEqual(before.orders);
});

test('the command for a web page makes a publishable key', async () => {
  const folder = makeFolder();
  for (const block of listBlocks('sh').filter((text) => text.startsWith('erp-proxy '))) {
    const words = block.replaceAll('\\\n', '').trim().split(/\s+/).slice(1);
    const settings = [`--store.url=sqlite:${join(folder, 'keys.db')}`];
    const { status, stdout } = await runErpProxy([...words, '--json', ...settings], { folder });
    const { policy } = JSON.parse(stdout);
    expect([status, policy.publishable, policy.cors_origins]).toEqual([0, true, [PAGE]]);
    expect(parsePolicy(policy)).toEqual({ policy });
  }
});

test.each([
  ['execute.md', execute],
  ['policies.md', policies],
])('the commands of %s run', async (_, page) => {
  const folder = makeFolder();
  const settings = [
    `--store.url=sqlite:${join(folder, 'keys.db')}`,
    `--vault.masterKey=${Buffer.alloc(32, 7).toString('base64')}`,
  ];
  const run = (words: readonly string[]) => runErpProxy([...words, '--json', ...settings], { folder });
  const policy = listBlocks('json', page).find((block) => block.includes('"models"')) as string;
  writeFileSync(join(folder, 'policy.json'), policy);
  writeFileSync(join(folder, 'call.json'), CALL_OF_EXPLAIN);
  writeFileSync(join(folder, 'odoo.key'), 'odoo-key');
  const add = ['instances', 'add', 'prod', '--erp-url=https://erp.example.com', '--db=prod', '--user-id=2'];
  expect((await run([...add, '--api-key-file=odoo.key'])).status).toBe(0);
  const { id } = JSON.parse((await run(['keys', 'create', '--name=x', '--policy=policy.json'])).stdout);
  const commands = listBlocks('sh', page).filter((block) => block.startsWith('erp-proxy '));
  expect(commands.length).toBeGreaterThan(0);
  for (const block of commands) {
    const print = `erp_proxy() { printf '%s\\0' "$@"; }; erp_proxy ${block.replace('erp-proxy ', '').replace('<id>', id)}`;
    const words = (await runProgram(['sh', '-c', print], shop)).stdout.split('\0').slice(0, -1);
    const { status, stdout, stderr } = await run(words);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  }
});

describe('TypeScript', () => {
  test.each([
    ['of calling.md', () => listBlocks('ts').join('\n')],
    ['of moving.md', () => CREATE_CLIENT + listCells('erp-proxy', 'ts').map(inOwnScope).join('\n')],
  ])('%s compiles and runs', async (_, readSource) => {
    const folder = makeFolder();
    const source = readSource().replaceAll("'@erp-proxy/client'", `'${root}packages/client/src/index.ts'`);
    writeFileSync(join(folder, 'page.mts'), source);
    expect(compile(folder, 'page.mts')).toBe('');
    const ran = await runProgram([process.execPath, join(folder, 'page.mts')], shop);
    expect(ran).toMatchObject({ status: 0, stderr: '' });
  });
});

describe.skipIf(!hasCommand('python3'))('Python (skipped where python3 is not installed)', () => {
  test.each([
    ['of calling.md', () => listBlocks('python').join('\n')],
    ['of moving.md', () => [listBlocks('python')[0], ...listCells('erp-proxy', 'python')].join('\n')],
  ])('%s runs', async (_, readSource) => {
    const ran = await runProgram(['python3', '-'], shop, { input: readSource(), env: PYTHON_ENV });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^3 \d+\n/);
  });

  test('of python.md and of the README runs, without frames where pandas or polars is not installed', async () => {
    const folder = makeFolder();
    const words = [
      'types',
      '--language',
      'python',
      '--instance',
      'prod',
      '--models',
      'sale.order',
      '-o',
      'models.py',
    ];
    const env = { ERP_PROXY_KEY: shop.proxy.key, ERP_PROXY_URL: shop.proxy.url };
    expect(await runCommand(words, { folder, env })).toMatchObject({ status: 0, stderr: '' });
    const canImport = async (name: string) =>
      (await runProgram(['python3', '-c', `import ${name}`], shop)).status === 0;
    const blocks = [python, pythonReadme].flatMap((page) => listBlocks('python', page));
    const skipped: string[] = [];
    for (const name of ['pandas', 'polars']) if (!(await canImport(name))) skipped.push(`import ${name}\n`);
    const source = blocks.filter((block) => !skipped.some((line) => block.includes(line))).join('\n');
    const ran = await runProgram(['python3', '-'], shop, {
      input: `import os\nos.chdir('${folder}')\n${source}`,
      env: { PYTHONPATH: `${PYTHON_ENV.PYTHONPATH}${delimiter}${folder}` },
    });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toContain("Model('res.partner')\n");
  });

  test('for other libraries is valid', async () => {
    const cells = listCells('other', 'python');
    expect(cells.length).toBeGreaterThan(10);
    const ran = await runProgram(['python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'], shop, {
      input: cells.join('\n'),
    });
    expect(ran).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

test.skipIf(!hasCommand('php'))('PHP runs (skipped where php is not installed)', async () => {
  const ran = await runProgram(['php'], shop, { input: `<?php\n${listBlocks('php').join('\n')}` });
  expect(ran).toEqual({ status: 0, stdout: expect.stringMatching(/^3 \d+\n$/), stderr: '' });
});

test('JavaScript of a page runs with a publishable key', async () => {
  const { key } = await shop.proxy.app.keys.create({
    name: 'page',
    policy: {
      instances: ['prod'],
      models: { 'product.template': ['*'] },
      fields: { 'product.template': { allow: ['name', 'list_price'] } },
      read_only: true,
      cors_origins: [PAGE],
      publishable: true,
    },
  });
  for (const block of listBlocks('js')) {
    const printed: unknown[] = [];
    const fetchFromPage = (url: string, init: RequestInit) =>
      fetch(url, { ...init, headers: { ...init.headers, origin: PAGE } });
    const run = makeFunction(['ERP_PROXY_URL', 'ERP_PROXY_KEY', 'fetch', 'console'], block);
    await run(shop.proxy.url, key, fetchFromPage, { log: (value: unknown) => printed.push(value) });
    expect(printed).toEqual([5]);
  }
});

test('JavaScript for other libraries is valid', () => {
  const cells = listCells('other', 'js');
  expect(cells.length).toBeGreaterThan(15);
  for (const cell of cells) expect(() => makeFunction([], cell), cell).not.toThrow();
});

test('JSON for other libraries is valid, and the calls of the proxy have results', async () => {
  for (const cell of listCells('other', 'json')) expect(JSON.parse(cell)).toMatchObject({ method: 'call' });
  const calls = listCells('erp-proxy', 'json');
  expect(calls).toHaveLength(2);
  for (const cell of calls) {
    const { json } = await shop.proxy.call(cell);
    expect(json).toHaveProperty('result');
  }
});

/** The code blocks of a page in one language. */
function listBlocks(language: string, page = calling): string[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text as string);
}

/** The code in the tables of moving.md: in the columns for erp-proxy, or in the columns for other libraries. */
function listCells(columns: 'erp-proxy' | 'other', language: string): string[] {
  let heads: string[] = [];
  let isTable = false;
  return moving.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) {
      isTable = false;
      return [];
    }
    const cells = line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim());
    if (!isTable) heads = cells;
    isTable = true;
    const isHead = cells === heads || cells.every((cell) => /^-+$/.test(cell));
    if (isHead) return [];
    return cells.flatMap((cell, index) => {
      const head = heads[index] ?? '';
      const isWanted =
        head.endsWith(`(${language})`) && head.startsWith('erp-proxy') === (columns === 'erp-proxy');
      const [, code] = /^`([^`]+)`$/.exec(cell) ?? [];
      return isWanted && code !== undefined ? [code] : [];
    });
  });
}

/** Code in which names of several tables do not collide, and which later rows of a table can use. */
function inOwnScope(cell: string): string {
  return `${cell.replace(/^const (\w+) = /, 'var $1 = ')};`;
}

function makeFunction(names: string[], body: string) {
  return Object.getPrototypeOf(async () => {}).constructor(...names, body);
}

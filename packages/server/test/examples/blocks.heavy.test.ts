/**
 * Checks every fenced block of the pages and READMEs by its language: code is compiled or parsed, commands must exist,
 * calls are sent, policies and settings are read. A block in a language without a check fails. Other tests also run
 * many of the blocks.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUSINESS_ERRORS, PROXY_ERRORS } from '@erp-proxy/contract';
import { renderOpenapi } from '@erp-proxy/http/openapi';
import { WELL_KNOWN } from '@erp-proxy/http/testing';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml, stringify } from 'yaml';
import { readConfiguration } from '../../src/cli/apply/configuration.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { loadSettings } from '../../src/config/load.ts';
import { findFiles, readText, root } from '../architecture/repository-files.ts';
import { compile } from '../compile.ts';
import { PROGRAM_VERSION } from '../harness.ts';
import { AGREE, startStage } from '../mcp/stage.ts';
import { makeFolder } from '../process/program.ts';
import { hasCommand, runProgram, type Shop, startShop } from './shop.ts';

interface Block {
  page: string;
  language: string;
  text: string;
  /** Used in the name of the block's test. */
  title: string;
}

const PAGES = findFiles('{*.md,docs/*.md,packages/*/README.md,examples/*.md,skills/**/*.md,deploy/**/*.md}');
const BLOCKS = PAGES.flatMap(listBlocks);
const OPENAPI = JSON.parse(JSON.stringify(await renderOpenapi(PROGRAM_VERSION)));
const LANGUAGES = [
  'conf',
  'cron',
  'http',
  'js',
  'json',
  'php',
  'python',
  'sh',
  'sql',
  'text',
  'toml',
  'ts',
  'yaml',
];
/** Programs in shell blocks that do not belong to this project. */
const FOREIGN = [
  'cat',
  'chmod',
  'curl',
  'docker',
  'git',
  'cosign',
  'helm',
  'jq',
  'kubectl',
  'mkdir',
  'npm',
  'npx',
  'openssl',
];
const PROGRAMS = [...FOREIGN, 'erp-proxy', 'python3', 'tr'];
const CREATE_CLIENT = "import { createClient } from '@erp-proxy/client';\nconst client = createClient();\n";
/** Parts that readers replace. */
const PLACEHOLDER = /<[a-z ]+>/g;

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

function listBlocks(page: string): Block[] {
  return [...readText(page).matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, , language = '', text = ''], at) => ({
      page,
      language,
      text,
      title: `${page}, block ${at + 1}`,
    }),
  );
}

const select = (...languages: string[]) => BLOCKS.filter(({ language }) => languages.includes(language));

test('every block is in a language that is checked here', () => {
  expect(BLOCKS.length).toBeGreaterThan(120);
  expect(BLOCKS.filter(({ language }) => !LANGUAGES.includes(language)).map(({ title }) => title)).toEqual(
    [],
  );
  const fences = PAGES.reduce((sum, page) => sum + [...readText(page).matchAll(/^ *```/gm)].length, 0);
  expect(fences).toBe(2 * BLOCKS.length);
});

describe('JSON', () => {
  test.each(select('json'))('$title', async ({ text }) => {
    for (const value of parseValues(text)) await checkJson(value);
  });

  /** Parses one JSON value, or one on each line. */
  function parseValues(text: string): unknown[] {
    try {
      return [JSON.parse(text)];
    } catch {
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    }
  }

  async function checkJson(value: unknown): Promise<void> {
    const members = value as Record<string, unknown>;
    if ('action' in members && 'model_id' in members) await expectAcceptedCall(members);
    else if ('jsonrpc' in members) expectAnswer(members);
    else if ('models' in members) expect(parsePolicy(value)).not.toHaveProperty('errors');
  }
});

/** Checks that the shape of the call is right. Whether Odoo has the records is not checked. */
async function expectAcceptedCall(call: Record<string, unknown>): Promise<void> {
  const { json } = await shop.proxy.call({ erp_instance: { name: 'prod' }, ...call });
  expect([-32700, -32600, -32602, -32001, -32002]).not.toContain(json.error?.code);
}

function expectAnswer({ error }: Record<string, unknown>): void {
  if (error === undefined) return;
  const { code, data } = error as { code: number; data: { type: string } };
  const known = Object.entries<{ code: number }>(PROXY_ERRORS).find(([, row]) => row.code === code);
  if (known !== undefined) expect(data.type).toBe(known[0]);
  else expect(Object.keys(BUSINESS_ERRORS)).toContain(data.type);
}

describe('commands', () => {
  test.each(select('sh'))('$title', async ({ text }) => {
    const commands = await listCommands(text.replaceAll(PLACEHOLDER, 'x'));
    for (const words of commands) await checkCommand(words);
    // A block without commands must only set variables.
    expect(commands.length > 0 || /^[A-Z_]+='/.test(text)).toBe(true);
  });

  /** Runs the shell with stand-ins for all programs, which log their arguments. */
  async function listCommands(text: string): Promise<string[][]> {
    const folder = makeFolder();
    const log = join(folder, 'commands');
    for (const name of PROGRAMS) {
      const program = join(folder, name);
      writeFileSync(
        program,
        `#!/bin/sh\nprintf '%s\\0' ${name} "$@" >> '${log}'\nprintf '\\0' >> '${log}'\n`,
      );
      chmodSync(program, 0o755);
    }
    const script = `cd '${folder}'; PATH='${folder}'; TOKEN=t; cd() { :; }; set -e\n${text}`;
    const ran = await runProgram(['/bin/sh', '-c', script], shop);
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    if (!existsSync(log)) return [];
    return readFileSync(log, 'utf8')
      .split('\0\0')
      .slice(0, -1)
      .map((command) => command.split('\0'));
  }

  async function checkCommand([program, ...words]: readonly string[]): Promise<void> {
    const own = words.indexOf('erp-proxy');
    if (program === 'erp-proxy') await expectKnownCommand(words);
    else if (['npx', 'docker', 'kubectl'].includes(program!) && isRun(words, own))
      await expectKnownCommand(words.slice(own + 1));
    else if (program === 'npm' && words[0] === 'run') expect(readScripts()).toContain(words[1]);
    else if (program === 'python3') expect(existsSync(join(root, words[0]!)), words[0]).toBe(true);
    else if (program === 'curl') await checkRequest(words);
  }

  /** Whether the word is the program to run, not the name of a container or an image. */
  function isRun(words: readonly string[], at: number): boolean {
    return at >= 0 && COMMANDS.some(({ name }) => name.split(' ')[0] === words[at + 1]);
  }

  const readScripts = () => Object.keys(JSON.parse(readText('package.json')).scripts);

  /** Placeholders in inline commands have the names that the usage of the command has. */
  test.each(listInlineCommands())('$page: $command', async ({ command }) => {
    const usage = await expectKnownCommand(command.replaceAll(/<[\w -]+>/g, 'x').split(' '));
    for (const [, option = '', name] of command.matchAll(/(--[\w-]+ )?<([\w-]+)>/g)) {
      const forms = option === '' ? [` <${name}>`, ` [${name}]`] : [`${option}<${name}>`];
      const text = option === '' ? usage.split('\n')[0]! : usage;
      expect(
        forms.some((form) => text.includes(form)),
        `${option}<${name}> in ${text}`,
      ).toBe(true);
    }
  });

  /** Inline commands that are complete. */
  function listInlineCommands(): { page: string; command: string }[] {
    return PAGES.flatMap((page) =>
      [...readText(page).matchAll(/`(?:npx )?erp-proxy ([^`<…][^`…]*)`/g)].map(([, command = '']) => ({
        page,
        command: command.replaceAll(/\s+/g, ' '),
      })),
    );
  }

  /** Checks that the command and its options exist. Resolves to the usage of the command. */
  async function expectKnownCommand(words: readonly string[]): Promise<string> {
    let output = '';
    const status = await runCommandLine(
      { argv: [...words, '--help'], version: '1.0.0', env: {}, cwd: '/', readFile: () => '' },
      {
        print: (text) => (output += text),
        complain: (text) => (output += text),
        untilTaken: async () => {},
        isTerminal: false,
        isErrorTerminal: false,
        ask: null,
        readInput: async () => Buffer.alloc(0),
        writeFile: async () => {},
        untilStopped: async () => {},
      },
    );
    const [name] = words.filter((word) => !word.startsWith('-'));
    expect({ status, output }).toMatchObject({
      status: 0,
      output: expect.stringContaining(`erp-proxy ${name}`),
    });
    return output;
  }

  /** Checks that a route has the path, and that it takes the body. */
  async function checkRequest(words: readonly string[]): Promise<void> {
    const url = words.find((word) => word.startsWith('http'))!;
    const path = new URL(url).pathname;
    const routes = [WELL_KNOWN, ...Object.keys(OPENAPI.paths)];
    const known = routes.map((route) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    expect(
      known.some((route) => route.test(path)),
      path,
    ).toBe(true);
    const at = words.indexOf('-d');
    if (at < 0) return;
    const body = JSON.parse(words[at + 1]!);
    if (path.endsWith('/execute')) await expectAcceptedCall(body);
    else if ('policy' in body) expect(parsePolicy(body.policy)).not.toHaveProperty('errors');
  }
});

describe('YAML', () => {
  test.each(select('yaml'))('$title', ({ page, text }) => {
    const value = parseYaml(text);
    if (page === 'docs/configuration-as-code.md') {
      expect(readConfiguration(text)).not.toHaveProperty('errors');
      return;
    }
    if ('extraEnv' in value) {
      const chart = parseYaml(readFileSync(join(root, 'deploy/helm/erp-proxy/values.yaml'), 'utf8'));
      expect(Object.keys(chart)).toEqual(expect.arrayContaining(Object.keys(value)));
      return;
    }
    // The block is a list of issuers, whose policies are in another block of the page.
    const [whole] = select('yaml').filter((block) => block.page === page);
    const settings = parseYaml(whole!.text);
    const file = Array.isArray(value) ? { ...settings, auth: { ...settings.auth, issuers: value } } : value;
    const loaded = loadSettings({
      argv: [],
      env: {},
      cwd: '/',
      readFile: () => stringify(file),
      file: 'x.yaml',
    });
    expect(loaded).not.toHaveProperty('errors');
  });
});

describe('TypeScript', () => {
  const readCode = (page: string) =>
    select('ts')
      .filter((block) => block.page === page)
      .map(({ text }) => text)
      .join('\n');
  const SANDBOX = 'packages/sandbox/README.md';
  const ODOO = 'packages/odoo/README.md';
  const pages = new Set(select('ts').map(({ page }) => page));

  test.each([...pages].filter((page) => page !== SANDBOX && page !== ODOO))('%s compiles', (page) => {
    const folder = makeFolder();
    const code = readCode(page);
    // Pages on one subject use a client that another page creates.
    writeFileSync(join(folder, 'page.mts'), code.includes('createClient(') ? code : CREATE_CLIENT + code);
    expect(compile(folder, 'page.mts')).toBe('');
  });

  test(`${ODOO} compiles`, () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'page.mts'), readCode(ODOO));
    const paths = {
      '@erp-proxy/odoo': [join(root, 'packages/odoo/src/index.ts')],
      '@erp-proxy/odoo/*': [join(root, 'packages/odoo/src/*/index.ts')],
    };
    const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
    const options = { paths, lib: ['es2025', 'esnext.array'], ...types };
    expect(compile(folder, 'page.mts', options)).toBe('');
  });

  test(`${SANDBOX} runs`, async () => {
    const file = join(makeFolder(), 'page.mts');
    const index = join(root, 'packages/sandbox/src/index.ts');
    const blocks = select('ts').filter(({ page }) => page === SANDBOX);
    // Several blocks may define a name that later blocks use. No block needs to close what it starts.
    const code = blocks
      .map(({ text }) => text.replace(/^import .*\n/, '').replaceAll(/^const /gm, 'var '))
      .join('');
    const source = `import { startSandbox } from '${index}';\n${code}process.exit();\n`;
    writeFileSync(file, source);
    expect(await runProgram([process.execPath, file], shop)).toMatchObject({ status: 0, stderr: '' });
  });
});

test('JavaScript is valid', () => {
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  for (const { text, title } of select('js')) expect(() => new AsyncFunction(text), title).not.toThrow();
});

test.skipIf(!hasCommand('python3'))('Python is valid (skipped where python3 is not installed)', async () => {
  for (const { text } of select('python')) {
    const parse = ['python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'] as const;
    expect(await runProgram([...parse], shop, { input: text })).toMatchObject({ status: 0, stderr: '' });
  }
});

test.skipIf(!hasCommand('php'))('PHP is valid (skipped where php is not installed)', async () => {
  for (const { text } of select('php'))
    expect((await runProgram(['php', '-l'], shop, { input: `<?php\n${text}` })).status).toBe(0);
});

test('cron: the times are valid, and the scripts exist', () => {
  for (const { text } of select('cron')) {
    const [, command = ''] = /^(?:[\d*,/-]+\s+){5}(.+)\n$/.exec(text) ?? [];
    const scripts = command.match(/[\w-]+\.sh/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(findFiles(`examples/**/${script}`)).toHaveLength(1);
  }
});

/** The headers of a delivery, as the tests of subscriptions check them. */
const DELIVERY_HEADERS = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

test('HTTP: the routes and headers are those of the proxy, or of its deliveries', () => {
  for (const { text } of select('http')) {
    const [request = '', ...headers] = text.trim().split('\n');
    const [method = '', path = ''] = request.split(' ');
    const operation = OPENAPI.paths[path]?.[method.toLowerCase()];
    const names = path.startsWith('/webhooks/')
      ? DELIVERY_HEADERS
      : operation.parameters.map(({ name }: { name: string }) => name.toLowerCase());
    for (const header of headers) expect(names).toContain(header.split(':')[0]);
  }
});

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'];
test.skipIf(POSTGRES_URL === undefined)('SQL runs (skipped without TEST_POSTGRES_URL)', async () => {
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  const name = `erp_proxy_page_${process.pid}`;
  try {
    // A table of Odoo, for SQL about it. Only this session sees the table.
    await client.query('CREATE TEMPORARY TABLE res_partner (id integer, write_date timestamp)');
    for (const { text } of select('sql'))
      for (const statement of text.replaceAll('erp_proxy', name).split(';').slice(0, -1))
        await client.query(statement);
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name}`);
    await client.query(`DROP ROLE IF EXISTS ${name}`);
    await client.end();
  }
});

const REDIS_URL = process.env['TEST_REDIS_URL'];
test.skipIf(REDIS_URL === undefined)(
  'Redis has the directives (skipped without TEST_REDIS_URL)',
  async () => {
    const redis = new Redis(REDIS_URL!);
    try {
      for (const { text } of select('conf'))
        for (const line of text.trim().split('\n'))
          expect(await redis.call('CONFIG', 'GET', line.split(' ')[0]!), line).toHaveLength(2);
    } finally {
      redis.disconnect();
    }
  },
);

test('TOML is what `erp-proxy mcp --print-config` prints', () => {
  // packages/server/src/cli/mcp/client-configurations.test.ts compares the block of this page.
  for (const { page } of select('toml')) expect(page).toBe('docs/mcp.md');
});

test('text is what a tool of MCP answers, or asks', async () => {
  const { call, connect } = await startStage();
  const questions: string[] = [];
  const answer = (question: string) => {
    questions.push(question);
    return AGREE;
  };
  const client = await connect({ answer });
  const field = await call('search_records', { model: 'sale.order', fields: ['partnr_id'] });
  const app = await call('count_records', { model: 'account.move' });
  for (const [method, keyword] of [
    ['message_post', { body: 'We deliver on Monday.' }],
    ['action_cancel', {}],
    ['action_lock', { reason: 'Late' }],
  ])
    await call('call_method', { model: 'sale.order', method, ids: [4], keyword }, client);
  // The other text is a drawing.
  const texts = select('text').filter(({ page }) => page !== 'docs/threat-model.md');
  for (const { page } of texts) expect(page).toBe('docs/mcp.md');
  expect(texts.map(({ text }) => text.trim())).toEqual([field.text, app.text, questions.join('\n')]);
});

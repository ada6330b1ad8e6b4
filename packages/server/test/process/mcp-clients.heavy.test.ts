/**
 * Tests with other programs of the MCP project: the client of 2025, the command line of the inspector, and the
 * conformance suite. Needs the npm registry, or a cache that has the packages in scripts/mcp-tools.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { listenOnFreePort } from '../listen.ts';
import { startStage } from '../mcp/stage.ts';
import { Browser } from '../sign-in/application.ts';
import { findFreePort, signIn, startStage as startSignIns } from '../sign-in/stage.ts';
import { makeFolder } from './program.ts';
import { installTools } from './tools.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** Installing takes long on a busy machine. */
const TIMEOUT_MS = 240_000;

const { folder, node } = installTools('mcp-tools', TIMEOUT_MS);

test('the client of 2025 lists and calls tools, over HTTP and stdio', async () => {
  const { proxy } = await startStage();
  writeFileSync(join(folder, 'client.mjs'), CLIENT);
  const entry = join(root, 'packages/server/bin/erp-proxy.mjs');
  for (const way of ['http', 'stdio']) {
    const output = JSON.parse(await node('client.mjs', way, proxy.url, proxy.key, entry));
    expect(output).toEqual({
      server: 'erp-proxy',
      protocol: '2025-11-25',
      tools: 14,
      records: [{ id: 10, name: 'Deco Addict' }],
      isError: true,
    });
  }
});

const CLIENT = `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
const [way, url, key, entry] = process.argv.slice(2);
const headers = { authorization: 'Bearer ' + key };
const transport = way === 'http'
  ? new StreamableHTTPClientTransport(new URL(url + '/mcp'), { requestInit: { headers } })
  : new StdioClientTransport({ command: process.execPath, args: [entry, 'mcp', '--url', url], env: { ERP_PROXY_KEY: key } });
const client = new Client({ name: 'test', version: '1.0.0' });
await client.connect(transport);
const { tools } = await client.listTools();
const args = { model: 'res.partner', query: 'Deco', fields: ['name'], limit: 1 };
const { structuredContent } = await client.callTool({ name: 'search_records', arguments: args });
const wrong = await client.callTool({ name: 'count_records', arguments: { model: ['res.partner'] } });
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  protocol: transport.protocolVersion ?? '2025-11-25',
  tools: tools.length,
  records: structuredContent.records,
  isError: wrong.isError,
}));
await client.close();
`;

test('the command line of the inspector lists and calls tools', async () => {
  const { proxy } = await startStage();
  const inspect = async (...args: string[]) =>
    JSON.parse(
      await node(
        'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
        '--cli',
        `${proxy.url}/mcp`,
        '--transport',
        'http',
        '--header',
        `x-proxy-api: ${proxy.key}`,
        ...args,
      ),
    );
  expect((await inspect('--method', 'tools/list')).tools).toHaveLength(14);
  const called = await inspect(
    '--method',
    'tools/call',
    '--tool-name',
    'count_records',
    '--tool-arg',
    'model=crm.lead',
  );
  expect(called.structuredContent).toEqual({ count: 3 });
});

/** Lets the inspector sign in without a terminal. It finds no browser, and prints the address to open. */
const ALONE = { PATH: '', MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'memory' };

test('the inspector, given the address alone, lists tools as the person who signs in', async () => {
  const stage = await startSignIns();
  const callback = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
  const inspector = spawn(
    process.execPath,
    [
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
      ...['--cli', `${stage.url}/mcp`, '--transport', 'http', '--method', 'tools/list'],
      ...['--callback-url', callback, '--format', 'json'],
    ],
    { cwd: folder, env: { ...ALONE, HOME: makeFolder() }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  closeAfterTest({ close: () => inspector.kill() });
  let printed = '';
  let output = '';
  inspector.stderr.on('data', (piece) => (printed += piece));
  inspector.stdout.on('data', (piece) => (output += piece));
  const ended = once(inspector, 'close');
  const find = () => /http\S+\/oauth\/authorize\?[^\s"']+/.exec(printed + output)?.[0];
  await expect.poll(find, { timeout: TIMEOUT_MS }).toBeDefined();
  const browser = new Browser();
  const page = await signIn(stage, browser, find()!);
  expect(page.text).toContain('a program on this computer');
  await browser.submit(page, { answer: 'allow' });
  await ended;
  const listed = JSON.parse(output.slice(output.indexOf('{')));
  expect((listed.result ?? listed).tools.length, printed).toBeGreaterThan(3);
});

/** All other scenarios need tools with fixed names, features that the server lacks, or sessions. */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];

test('the conformance suite accepts the server in what applies', async () => {
  const { proxy, createKey } = await startStage();
  let key = '';
  const url = await addKey(proxy.url, () => key);
  // A page at the address of the server is allowed, as the suite expects. All others are refused.
  const cors_origins = [url, url.replace('127.0.0.1', 'localhost')];
  key = await createKey({ instances: ['prod'], models: { '*': ['*'] }, cors_origins });
  for (const scenario of SCENARIOS) {
    const output = await node(
      'node_modules/@modelcontextprotocol/conformance/dist/index.js',
      ...['server', '--url', `${url}/mcp`, '--scenario', scenario],
    );
    expect(output).toMatch(/Passed: (\d+)\/\1, 0 failed/);
  }
});

/**
 * Starts a server that passes requests on with the key, because the suite cannot send a header. Returns its address.
 */
async function addKey(target: string, key: () => string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const sent = httpRequest(
      `${target}${incoming.url}`,
      { method: incoming.method, headers: { ...incoming.headers, 'x-proxy-api': key() } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(sent);
  });
  closeAfterTest({ close: () => server.close() });
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

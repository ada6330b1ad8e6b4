/**
 * Tests `erp-proxy mcp`: local clients of both protocol revisions use a running proxy over standard input and output.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { readManifest } from '../../../../scripts/pack/manifest.ts';
import { makeServerJson } from '../../../../scripts/pack/server-json.ts';
import { CLIENT_CONFIGURATIONS } from '../../src/cli/mcp/client-configurations.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { ENTRY, makeFolder, startProgram } from '../process/program.ts';
import { startUpstream } from '../scripted-upstream.ts';
import { AGREE, type ConnectOptions, callTool, connectClient, startStage } from './stage.ts';

function connect(
  url: string,
  { key = '', ...options }: ConnectOptions = {},
  args: readonly string[] = [],
): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp', '--url', url, ...args],
    cwd: makeFolder(),
    env: { ERP_PROXY_KEY: key },
    stderr: 'pipe',
  });
  return connectClient(transport, options);
}

test.each(['modern', 'legacy'] as const)('serves the tools to a %s client', async (mode) => {
  const { proxy, connect: connectOverHttp } = await startStage();
  const client = await connect(proxy.url, { key: proxy.key, mode });
  const { tools } = await client.listTools();
  expect(tools).toEqual((await (await connectOverHttp()).listTools()).tools);
  const { data } = await callTool(client, 'search_records', { model: 'res.partner', query: 'Deco' });
  expect(data.records[0]).toMatchObject({ id: 10, name: 'Deco Addict' });
  // The company, and its contacts, which Odoo finds by the name of their company.
  expect(data.records.map(({ id }: { id: number }) => id)).toEqual([10, 23, 24, 25]);
  const wrong = await callTool(client, 'count_records', { model: 'res.prtner' });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringMatching(/^model_not_found/) });
  await expect(client.callTool({ name: 'drop' })).rejects.toThrow('Unknown tool: drop');
});

test('says so if the proxy does not serve agents', async () => {
  const { proxy } = await startStage();
  const client = await connect(`${proxy.url}/older`, { key: proxy.key });
  await expect(client.listTools()).rejects.toThrow('The proxy does not serve agents (/mcp): upgrade it');
});

test.each(['modern', 'legacy'] as const)('asks the person of a %s client before deleting', async (mode) => {
  const { proxy } = await startStage();
  const questions: string[] = [];
  const answer = (message: string) => {
    questions.push(message);
    return questions.length === 1 ? { action: 'decline' } : AGREE;
  };
  const client = await connect(proxy.url, { key: proxy.key, mode, answer });
  const args = { model: 'res.partner', ids: [40] };
  expect((await callTool(client, 'delete_records', args)).text).toContain('Nothing was changed');
  expect((await callTool(client, 'delete_records', args)).data).toEqual({ deleted: [40] });
  expect(questions).toHaveLength(2);
  expect(questions[0]).toContain('Delete for good');
});

test.each(CLIENT_CONFIGURATIONS)(
  'what --print-config prints for $name lets a client of 2025 ask its person',
  async ({ render }) => {
    const { proxy } = await startStage();
    const text = render({ url: proxy.url, keyFile: undefined });
    const questions: string[] = [];
    const answer = (message: string) => {
      questions.push(message);
      return AGREE;
    };
    const { address, args } = readConfiguration(text);
    const options = { key: proxy.key, mode: 'legacy', answer } as const;
    const headers = { 'x-proxy-api': proxy.key };
    const client = await (address === undefined
      ? connect(proxy.url, options, args)
      : connectClient(
          new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }),
          options,
        ));
    const { data } = await callTool(client, 'delete_records', { model: 'res.partner', ids: [40] });
    expect(data).toEqual({ deleted: [40] });
    expect(questions).toEqual([expect.stringContaining('Delete for good')]);
  },
);

test('what the registry of MCP describes serves the tools', async () => {
  const { proxy } = await startStage();
  const repository = {
    type: 'git',
    url: 'git+https://github.com/team/erp-proxy.git',
    directory: 'packages/server',
  } as const;
  const entry = JSON.parse(JSON.stringify(makeServerJson(repository, readManifest('packages/server'))));
  const [{ packageArguments, environmentVariables }] = entry.packages;
  const given: Record<string, string> = { address: proxy.url, key: proxy.key };
  const env = environmentVariables.map(({ name, isSecret }: { name: string; isSecret?: boolean }) => [
    name,
    given[isSecret ? 'key' : 'address'],
  ]);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, ...packageArguments.map(({ value }: { value: string }) => value)],
    cwd: makeFolder(),
    env: Object.fromEntries(env),
    stderr: 'pipe',
  });
  const client = await connectClient(transport, {});
  const { data } = await callTool(client, 'count_records', { model: 'res.partner' });
  expect(data.count).toBeGreaterThan(0);
});

/** The address that a configuration names, or else the arguments with which it starts the program. */
function readConfiguration(text: string): { address?: string; args?: string[] } {
  if (!text.startsWith('{')) return { address: /^url = "(.*)"$/m.exec(text)![1]! };
  const { mcpServers, servers, context_servers } = JSON.parse(text);
  const { url, serverUrl, httpUrl, args } = (mcpServers ?? servers ?? context_servers).odoo;
  // The program begins behind `npx -y erp-proxy mcp --url <address>`.
  return args === undefined ? { address: url ?? serverUrl ?? httpUrl } : { args: args.slice(5) };
}

test('passes on that the key is refused, and that no proxy answers', async () => {
  const { proxy } = await startStage();
  const refused = await connect(proxy.url, { key: 'ep_wrong' });
  await expect(refused.listTools()).rejects.toThrow('check ERP_PROXY_KEY, or the file of --key-file');
  const nobody = await connect('http://127.0.0.1:9', { key: proxy.key });
  await expect(nobody.listTools()).rejects.toThrow('No answer from http://127.0.0.1:9');
});

test('reads the key from a file, and ends when its input ends', async () => {
  const { proxy } = await startStage();
  const file = join(makeFolder(), 'key');
  writeFileSync(file, `${proxy.key}\n`);
  const client = await connect(proxy.url, {}, ['--key-file', file]);
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  const child = spawn(process.execPath, [ENTRY, 'mcp', '--url', proxy.url, '--key-file', file], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  expect(await ended).toBe(0);
});

test('says what is missing without a key', async () => {
  const { stderr, status } = await startProgram(['mcp'], { folder: makeFolder() }).ended;
  expect(stderr).toContain('Give the client key');
  expect(status).toBe(2);
});

test('cancels the call at the proxy if the client cancels it, and reports nothing', async () => {
  const left = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const upstream = closeAfterTest(
    await startUpstream((socket) => {
      arrived.resolve();
      socket.once('close', () => left.resolve());
    }),
  );
  const { child, send, readErrors } = startBridge(upstream.url);
  send({ id: 1, method: 'initialize', params: INITIALIZE });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'get_context', arguments: {} } });
  await arrived.promise;
  send({ method: 'notifications/cancelled', params: { requestId: 2 } });
  await left.promise;
  send({ id: 3, method: 'tools/call', params: { name: 'get_context', arguments: {} } });
  await expect.poll(() => upstream.requests.length).toBe(2);
  child.stdin.end();
  await once(child, 'close');
  expect(readErrors()).toBe('');
});

test('reports messages that cannot be read, and why it ends at one that is too large', async () => {
  const { child, send, readErrors } = startBridge('http://127.0.0.1:9');
  send({ id: 1, method: 'initialize', params: INITIALIZE });
  child.stdin.write('[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n');
  await expect.poll(readErrors).toContain('one is not a message of JSON-RPC');
  child.stdin.on('error', () => {});
  child.stdin.write('x'.repeat(12 * 1024 * 1024));
  await once(child, 'close');
  expect(readErrors()).toContain('exceeded maximum size');
});

test('refuses standard input as the file of the key, which has the messages of the client', async () => {
  const program = startProgram(['mcp', '--key-file', '-'], { folder: makeFolder() });
  const { stderr, status } = await program.ended;
  expect(stderr).toContain('--key-file -');
  expect(status).toBe(2);
});

test('prints the whole path of the key file, because the client starts the program in another folder', async () => {
  const args = ['mcp', '--print-config', 'zed', '--key-file', 'my keys/agent.key'];
  const folder = makeFolder();
  const { stdout } = await startProgram(args, { folder }).ended;
  const { odoo } = JSON.parse(stdout).context_servers;
  expect(odoo.args.at(-1)).toBe(join(realpathSync(folder), 'my keys/agent.key'));
});

test.each(['/odoo', '/odoo/', '/odoo/mcp'])('uses the path of the address, %s', async (end) => {
  const upstream = closeAfterTest(await startUpstream(() => {}));
  const { send } = startBridge(`${upstream.url}${end}`);
  send({ id: 1, method: 'initialize', params: INITIALIZE });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/list' });
  await expect.poll(() => upstream.requests[0]?.head).toMatch(/^POST \/odoo\/mcp /);
  for (const [client, address] of [
    ['cursor', `"url": "${upstream.url}/odoo/mcp"`],
    ['zed', `"${upstream.url}/odoo"`],
  ]) {
    const args = ['mcp', '--print-config', client!, '--url', `${upstream.url}${end}`];
    expect((await startProgram(args, { folder: makeFolder() }).ended).stdout).toContain(address);
  }
});

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

/** Starts the command without a client, to send single messages and see the answers. */
function startBridge(url: string) {
  const child = spawn(process.execPath, [ENTRY, 'mcp', '--url', url], {
    stdio: ['pipe', 'ignore', 'pipe'],
    cwd: makeFolder(),
    env: { ERP_PROXY_KEY: 'ep_test' },
  });
  closeAfterTest({ close: () => child.kill() });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return { child, send, readErrors: () => errors };
}

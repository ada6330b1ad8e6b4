/** `erp-proxy mcp`: local clients of both revisions use a running proxy over standard input and output. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeFolder, startProgram } from '../process/program.ts';
import { type ConnectOptions, callTool, startStage } from './stage.ts';

const ENTRY = fileURLToPath(new URL('../../bin/erp-proxy.mjs', import.meta.url));
const AGREE = { action: 'accept', content: { confirm: true } };

async function connect(
  url: string,
  { key = '', mode = 'modern', answer }: ConnectOptions = {},
  args: readonly string[] = [],
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message) as never);
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp', '--url', url, ...args],
    cwd: makeFolder(),
    env: { ERP_PROXY_KEY: key },
    stderr: 'pipe',
  });
  await client.connect(transport);
  closeAfterTest(client);
  return client;
}

test.each(['modern', 'legacy'] as const)('serves the tools to a %s client', async (mode) => {
  const { proxy, connect: connectOverHttp } = await startStage();
  const client = await connect(proxy.url, { key: proxy.key, mode });
  const { tools } = await client.listTools();
  expect(tools).toEqual((await (await connectOverHttp()).listTools()).tools);
  const { data } = await callTool(client, 'search_records', { model: 'res.partner', query: 'Deco' });
  expect(data.records).toMatchObject([{ id: 10, name: 'Deco Addict' }]);
  const wrong = await callTool(client, 'count_records', { model: 'res.prtner' });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringMatching(/^model_not_found/) });
  await expect(client.callTool({ name: 'drop' })).rejects.toThrow('Unknown tool: drop');
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

test('passes on that the key is refused, and that no proxy answers', async () => {
  const { proxy } = await startStage();
  const refused = await connect(proxy.url, { key: 'ep_wrong' });
  await expect(refused.listTools()).rejects.toThrow(/client key/);
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

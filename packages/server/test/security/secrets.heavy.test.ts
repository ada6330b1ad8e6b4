/** Tests that no key, secret or password appears in a log, a metric, an answer, a printed setting or the store. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { type HttpAnswer, send } from '../harness.ts';
import { makeFolder, makeKey, runProgram, startServer } from '../process/program.ts';
import { makeCall } from '../scripted-upstream.ts';

const HASH_SECRET = 'MARKER-hash-secret-of-more-than-32-characters';
const API_KEY = 'MARKER-upstream-api-key';
const PASSWORD = 'MARKER-password';
const VALUE = 'MARKER-value';

test('shows no secret anywhere, whatever call or command is run', async () => {
  const folder = makeFolder();
  const env = { ERP_PROXY_KEYS_HASH_SECRET: HASH_SECRET };
  const sandbox = await startSandbox();
  const server = await startServer([`--egress.allow=${sandbox.url}`], { folder, env });
  const [key, ownText] = [await makeKey(server), await makeKey(server)];

  const post = (body: unknown, headers: Record<string, string> = {}, path = '/api/erp/execute') =>
    send(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'x-proxy-api': key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const instance = { url: sandbox.url, db: sandbox.db, user_id: 2, api_key: sandbox.users.admin.apiKey };
  const makeOn = (erp: Record<string, unknown>, changes: Record<string, unknown> = {}) =>
    makeCall(sandbox.url, { erp_instance: { ...instance, ...erp }, ...changes });
  const forged = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const answers: HttpAnswer[] = [
    await post(makeOn({})),
    await post([makeOn({ api_key: API_KEY }), makeOn({ db: `postgres://u:${PASSWORD}@h/db` })]),
    await post(makeOn({ url: `http://user:${PASSWORD}@127.0.0.1` })),
    await post(makeOn({ url: `http://127.0.0.1/?token=${PASSWORD}` })),
    await post(makeOn({ url: `http://10.0.0.1/${PASSWORD}`, api_key: API_KEY })),
    await post(makeOn({ api_key: API_KEY, password: PASSWORD })),
    await post(makeOn({ api_key: { a: API_KEY } })),
    await post(makeOn({}, { action: 'write', params: [[1], { no_such_field: VALUE }] })),
    await post(makeOn({}, { params: VALUE, keyword: { limit: VALUE, context: { tz: VALUE } } })),
    await post(`{"erp_instance":{"api_key":"${API_KEY}"`),
    await post({}, { 'x-proxy-api': forged }),
    await post({}, { 'x-proxy-api': `${key}x` }),
    // The request id is the caller's own text and is shown by design.
    await post({}, { 'x-request-id': ownText, cookie: PASSWORD, authorization: `Bearer ${API_KEY}` }),
    await post({}, {}, `/api/erp/execute?key=${key}`),
    await post({}, {}, `/nowhere/${key}`),
    await post({}, { 'content-type': key }),
    await send(`${server.url}/metrics`),
    await send(`${server.url}/readyz`),
  ];

  writeFileSync(join(folder, 'key'), API_KEY);
  writeFileSync(join(folder, 'client-key'), key);
  writeFileSync(join(folder, 'call.json'), JSON.stringify(makeOn({ api_key: API_KEY })));
  const allow = `--egress.allow=${sandbox.url}`;
  const commands = [
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['config', 'print'],
    ['config', 'print', '--json'],
    ['config', 'check', '--json'],
    ['config', 'check', '--json', `--egress.allow=http://u:${PASSWORD}@h`],
    ['config', 'print', `--store.url=postgres://u:${PASSWORD}@h/db`],
    ['serve', `--keys.hashSecret=${PASSWORD}`],
    ['doctor', sandbox.url, allow, `--db=${sandbox.db}`, '--user-id=2', '--api-key-file=key'],
    ['doctor', `http://u:${PASSWORD}@127.0.0.1`, '--json'],
    ['call', 'call.json', '--url', server.url, '--key-file', 'client-key'],
    ['call', 'call.json', '--url', server.url, '--key-file', 'call.json'],
  ];
  const outputs = await Promise.all(commands.map((args) => runProgram(args, { folder, env })));
  const commandLine =
    readFileSync(`/proc/${server.pid}/cmdline`, 'latin1') + readFileSync(`/proc/${server.pid}/comm`);
  const filesWhileRunning = readFolder(join(folder, 'data'));
  server.kill('SIGTERM');
  expect((await server.ended).status).toBe(0);
  await sandbox.close();

  const shown: [string, string][] = [
    ...answers.map((answer, index): [string, string] => [
      `answer ${index}`,
      JSON.stringify(answer.headers) + answer.body,
    ]),
    ...commands.map((args, index): [string, string] => [
      args.slice(0, 2).join(' '),
      JSON.stringify(outputs[index]),
    ]),
    ['log', server.stdout + server.stderr],
    ['command line', commandLine],
    ['store while running', filesWhileRunning],
    ['store', readFolder(join(folder, 'data'))],
  ];
  const secretOf = (text: string) => text.slice('ep_'.length + 13);
  for (const [where, text] of shown) {
    expect(text, where).not.toContain('MARKER');
    expect(text, where).not.toContain(sandbox.users.admin.apiKey);
    expect(text, where).not.toContain(secretOf(key));
  }
  // The calls were processed, so the test would find the secrets.
  expect(answers[0]?.status).toBe(200);
  expect(answers[1]?.body.toString()).toContain('access_denied');
  expect(server.stdout).toContain('"model":"res.partner"');
});

/** The bytes of all files in a folder: the database and its journal. */
function readFolder(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
}

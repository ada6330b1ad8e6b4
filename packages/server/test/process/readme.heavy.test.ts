/**
 * Runs the commands of the README as they are written, and compares their output with the page. Only the ports, which
 * may be taken, and the store are replaced. `npm ci` and `npm test` are not run: they run this test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { HAS_TERMINAL, makeFolder, type Program, startOnTerminal, startShell } from './program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The demo of an installed package. package.heavy.test.ts runs it. */
const DEMO_OF_PACKAGE = 'npx erp-proxy demo';
/**
 * The command of an installed package that corresponds to the commands of the README. package.heavy.test.ts runs it
 * too.
 */
const SERVE_OF_PACKAGE = 'npx erp-proxy serve';
/** release.heavy.test.ts and package.heavy.test.ts run it. */
const PACK = 'npm run pack';
const DEMO = 'npm run demo';
const DEMO_ONCE = 'npm run demo -- --once';
const START = 'npm start -- --egress.allow http://127.0.0.1:8069';
const DOCTOR = 'npx erp-proxy doctor http://127.0.0.1:8069 --egress.allow http://127.0.0.1:8069';
const SANDBOX = 'npx erp-proxy sandbox --version 17';
const SANDBOX_18 = 'npx erp-proxy sandbox --version 18 --port 8018';
const SANDBOX_19 = 'npx erp-proxy sandbox --version 19 --port 8019';
const START_BOTH = 'npm start -- --egress.allow http://127.0.0.1:8018,http://127.0.0.1:8019';
const CONSOLE = 'npx erp-proxy console';
const CREATE_KEY = 'npx erp-proxy keys create --name shop';
const CREATE_MY_KEY = 'npx erp-proxy keys create --name me';

/** Ctrl-C: a terminal turns this byte into SIGINT. */
const CTRL_C = '\x03';

let store: string;
beforeEach(() => {
  store = `sqlite:${join(makeFolder(), 'keys.db')}`;
});

function type(line: string, startLine = startShell): Program {
  const env = { ERP_PROXY_STORE_URL: store, ERP_PROXY_HTTP_PORT: '0' };
  return startLine(line, { folder: root, env });
}

test('the README has no command that is not run here', () => {
  const blocks = listBlocks('sh').flatMap((block) => block.trim().split('\n'));
  const spans = [...readme.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span as string);
  const commands = [...blocks, ...spans]
    .filter((line) => /^(npm|npx) ./.test(line))
    .map((line) => line.replace('npm ci && ', ''));
  expect(new Set(commands)).toEqual(
    new Set([
      DEMO_OF_PACKAGE,
      SERVE_OF_PACKAGE,
      PACK,
      DEMO,
      DEMO_ONCE,
      'npm test',
      'npm start',
      START,
      DOCTOR,
      SANDBOX,
      SANDBOX_18,
      SANDBOX_19,
      START_BOTH,
      CONSOLE,
      CREATE_KEY,
      CREATE_MY_KEY,
    ]),
  );
});

describe('the first call', () => {
  test('is printed, and the demo runs until it is stopped', async () => {
    const demo = type(`exec ${DEMO}`);
    await demo.waitFor(/"result":\[\{[\s\S]*Ctrl-C ends them/);
    demo.kill('SIGTERM');
    expect((await demo.ended).stdout).toContain('curl -s http://127.0.0.1:');
  });

  test('is printed, and --once exits with 0', async () => {
    const { status, stdout } = await type(DEMO_ONCE).ended;
    expect(stdout).toContain('"result":[{');
    expect(status).toBe(0);
  });
});

// The first key is printed only on a terminal, which a reader has.
test.runIf(HAS_TERMINAL)('the steps for one’s own Odoo lead to a call with the printed answer', async () => {
  const sandbox = type(`${SANDBOX} --port 0`);
  const [, port] = await sandbox.waitFor(/sandbox on http:\/\/127\.0\.0\.1:(\d+)/);
  const adapt = (text: string) => text.replaceAll('127.0.0.1:8069', `127.0.0.1:${port}`);
  // The sandbox prints the same host as the page does.
  await sandbox.waitFor(new RegExp(`--egress.allow http://127.0.0.1:${port}\n`));
  expect((await type(adapt(DOCTOR)).ended).status).toBe(0);

  const proxy = type(adapt(START), startOnTerminal);
  const [key] = await proxy.waitFor(/\bep_\w+/);
  const [, address] = await proxy.waitFor(/"url":"http:\/\/([^"]+)"/);
  const [example] = listBlocks('sh').filter((block) => block.startsWith('curl '));
  const line = adapt(example as string)
    .replace('127.0.0.1:8787', address as string)
    .replace('<client key>', key);
  expect(await runCurl(line)).toBe(listBlocks('json')[0]?.trim());

  for (const command of [CREATE_KEY, CREATE_MY_KEY]) {
    const created = await type(command).ended;
    expect(await runCurl(line.replace(key, created.stdout.trim()))).toContain('"result"');
  }

  const printed = (await type(`ERP_PROXY_URL=http://${address} ${CONSOLE}`).ended).stdout;
  const [, code = ''] = /sign-in#code=(\S+)/.exec(printed) ?? [];
  const { status } = await send(`http://${address}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  expect(status).toBe(200);

  proxy.input(CTRL_C);
  expect((await proxy.ended).stdout).toContain('"msg":"stopped"');
});

test('Odoo 18 and 19 give the same answer, with one changed URL', async () => {
  const sandboxes = [type(SANDBOX_18.replace('8018', '0')), type(SANDBOX_19.replace('8019', '0'))];
  const ports = await Promise.all(
    sandboxes.map(async (sandbox) => (await sandbox.waitFor(/sandbox on http:\/\/127\.0\.0\.1:(\d+)/))[1]),
  );
  // Started like by a supervisor: without a terminal, and the signal goes only to npm.
  const proxy = type(
    `exec ${START_BOTH.replace('8018', String(ports[0])).replace('8019', String(ports[1]))}`,
  );
  const [, address] = await proxy.waitFor(/"url":"http:\/\/([^"]+)"/);
  const key = (await type(CREATE_KEY).ended).stdout.trim();
  const [example] = listBlocks('sh').filter((block) => block.startsWith('curl '));
  const answers = ports.map((port) =>
    runCurl(
      (example as string)
        .replace('127.0.0.1:8787', address as string)
        .replace('<client key>', key)
        .replace('127.0.0.1:8069', `127.0.0.1:${port}`),
    ),
  );
  const shown = listBlocks('json')[0]?.trim();
  expect(await Promise.all(answers)).toEqual([shown, shown]);
  await proxy.waitFor(/"protocol":"json2"/);
  await proxy.waitFor(/"protocol":"jsonrpc"/);
  proxy.kill('SIGTERM');
  expect((await proxy.ended).stdout).toContain('"msg":"stopped"');
});

/** The code blocks of the README in one language. */
function listBlocks(language: string): string[] {
  return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text as string);
}

/**
 * Sends the request of a curl command, and returns the body of the answer. The shell only splits the command into
 * words, because curl may be missing.
 */
async function runCurl(line: string): Promise<string> {
  const { stdout } = await type(`curl() { printf '%s\\n--\\n' "$@"; }; ${line}`).ended;
  const words = stdout.split('\n--\n');
  const headers = words.filter((_, index) => words[index - 1] === '-H').map((header) => header.split(': '));
  const answer = await send(words[0] as string, {
    method: 'POST',
    headers: Object.fromEntries(headers),
    body: words[words.indexOf('-d') + 1] as string,
  });
  return answer.body.toString();
}

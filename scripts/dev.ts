/**
 * `npm run dev [-- <flags of serve>]`: runs a sandbox, the proxy and the console, each of which starts again or reloads
 * when its sources change, and prints a link that signs in. The store is a temporary folder. Ctrl-C ends everything.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { database, users } from '../packages/sandbox/src/data/users.ts';
import { makeSignInLink } from '../packages/server/src/cli/sign-in-link.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAIN = 'packages/server/src/main.ts';
const SANDBOX = 'http://127.0.0.1:8069';
/** The console sends its requests to this address (packages/console/vite.config.ts). */
const PROXY = 'http://127.0.0.1:8787';
const CONSOLE = 'http://localhost:5173';

const token = randomBytes(32).toString('base64url');
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-dev-'));
const env = {
  ...process.env,
  ERP_PROXY_ADMIN_TOKEN: token,
  ERP_PROXY_VAULT_MASTER_KEY: randomBytes(32).toString('base64'),
  ERP_PROXY_STORE_URL: `sqlite:${join(folder, 'erp-proxy.db')}`,
  ERP_PROXY_EGRESS_ALLOW: SANDBOX,
};
const children: ChildProcess[] = [];
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop());

start(process.execPath, ['--watch', MAIN, 'sandbox'], 'ignore');
start(process.execPath, ['--watch', MAIN, 'serve', ...process.argv.slice(2)], 'inherit');
start(
  'vite',
  ['--config', 'packages/console/vite.config.ts', '--strictPort', '--logLevel', 'warn'],
  'inherit',
);

while (!(await fetch(`${PROXY}/readyz`).catch(() => null))?.ok) await sleep(100);
const { userId: user_id, apiKey: api_key } = users.admin;
const { ok } = await fetch(`${PROXY}/admin/v1/instances`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'sandbox', url: SANDBOX, db: database, user_id, api_key }),
});
if (!ok) {
  process.stderr.write(`Another proxy runs on ${PROXY}.\n`);
  await stop();
}
process.stdout.write(
  `\nConsole, signed in: ${makeSignInLink(token, CONSOLE).url}\nCtrl-C ends everything.\n\n`,
);

/** If one of the programs cannot run, the others end too. */
function start(command: string, args: readonly string[], stdout: 'ignore' | 'inherit'): void {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', stdout, 'inherit'] });
  child.once('exit', () => void stop());
  children.push(child);
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
  rmSync(folder, { recursive: true });
  process.exit();
}

/** Tests that a program with workers takes over a secret whose file changes, also in a worker that starts later. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { listChildren, makeFolder, startServer } from './program.ts';

const FORMER = 'former-token-'.repeat(4);
const LATER = 'later-token-'.repeat(4);
const WORKERS = 2;
const countLines = (text: string, message: string) => text.split(`"msg":"${message}"`).length - 1;

test('all workers take a new token over, and a replacement begins with it', async () => {
  const folder = makeFolder();
  const path = join(folder, 'token');
  writeFileSync(path, FORMER);
  const server = await startServer([`--workers=${WORKERS}`], {
    folder,
    env: { ERP_PROXY_ADMIN_TOKEN_FILE: 'token' },
  });
  await expect.poll(() => countLines(server.stdout, 'listening')).toBe(WORKERS);
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await send(`${server.url}/admin/v1/keys`, { headers })).status;
  };
  expect(await ask(FORMER)).toBe(200);
  writeFileSync(`${path}.new`, LATER);
  renameSync(`${path}.new`, path);
  await expect.poll(() => countLines(server.stdout, 'secret taken over')).toBe(WORKERS);
  process.kill(listChildren(server.pid)[0] ?? 0, 'SIGKILL');
  await expect.poll(() => countLines(server.stdout, 'listening')).toBe(WORKERS + 1);
  // Connections go to the workers in turn.
  for (let at = 0; at < WORKERS * 2; at++) expect(await ask(LATER)).toBe(200);
  expect(await ask(FORMER)).toBe(401);
  expect(countLines(server.stdout, 'secret taken over')).toBe(WORKERS);
  expect(server.stdout).not.toContain(LATER);
});

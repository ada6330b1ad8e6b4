/**
 * Tests the program while each write to its SQLite file fails although its disk has free space: with a quota, for
 * example.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { pause } from '../time.ts';
import { ENTRY, makeFolder, startShell } from './program.ts';

const TOKEN = 'a token for the tests of failing writes, long enough';
/** `prlimit` is part of util-linux, which Debian always has. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;
/** Maximum size of a file. The -wal file of a new store has half of it. */
const FILE_BYTES_MAX = 400_000;
const CHANGES_MAX = 1000;
/** Shorter than the interval at which the store tries to write. */
const BETWEEN_TRIALS_MS = 100;

test.runIf(canLimit)('the store is down for as long as writes fail, and recovers', async () => {
  const line = `exec prlimit --fsize=${FILE_BYTES_MAX}: ${process.execPath} ${ENTRY} serve --http.port=0`;
  const program = startShell(line, { folder: makeFolder(), env: { ERP_PROXY_ADMIN_TOKEN: TOKEN } });
  const [, url = ''] = await program.waitFor(/"url":"(http:[^"]+)"/);
  const createKey = async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    return (await send(`${url}/admin/v1/keys`, { method: 'POST', headers, body: '{"name":"a"}' })).status;
  };
  const readStore = async () => {
    const readiness = JSON.parse((await send(`${url}/readyz`)).body.toString());
    const metrics = (await send(`${url}/metrics`)).body.toString();
    return { check: readiness.checks.store, isUp: /^erp_proxy_store_up 1$/m.test(metrics) };
  };
  let status = await createKey();
  for (let count = 0; status === 201 && count < CHANGES_MAX; count++) status = await createKey();
  expect(status).toBe(503);

  // Waits for several times the interval at which the store tries to write.
  for (let count = 0; count < 30; count++) {
    expect(await readStore()).toEqual({ check: expect.stringContaining('its disk fails'), isUp: false });
    await pause(BETWEEN_TRIALS_MS);
  }
  spawnSync('prlimit', ['--pid', `${program.pid}`, '--fsize=unlimited:']);
  await expect.poll(readStore).toEqual({ check: 'ok', isUp: true });
  expect(await createKey()).toBe(201);
});

/** Tests the program while the disk of its SQLite file is full. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { ENTRY, makeFolder, type Program, startShell } from './program.ts';

const TOKEN = 'a token for the tests of a full disk, long enough';
const DISK = 'unshare --user --map-root-user --mount sh -c';
/** A container may forbid mounts. */
const canMount = spawnSync('sh', ['-c', `${DISK} 'mount -t tmpfs tmpfs /mnt'`]).status === 0;

let sandbox: Sandbox;
let program: Program;
let url: string;
/** The path of the small disk, as other processes see it. */
let disk: string;

beforeEach(async () => {
  if (!canMount) return;
  sandbox = await startSandbox();
  const folder = makeFolder();
  const data = join(folder, 'data');
  mkdirSync(data);
  const serve = `${process.execPath} ${ENTRY} serve --http.port=0 --egress.allow=${sandbox.url}`;
  const line = `exec ${DISK} 'mount -t tmpfs -o size=16m tmpfs ${data} && exec ${serve}'`;
  program = startShell(line, { folder, env: { ERP_PROXY_ADMIN_TOKEN: TOKEN } });
  [, url] = (await program.waitFor(/"url":"(http:[^"]+)"/)) as unknown as [string, string];
  disk = `/proc/${program.pid}/root${data}`;
});
afterEach(() => sandbox?.close());

function fillDisk(): void {
  const file = openSync(join(disk, 'filler'), 'w');
  try {
    for (const size of [65_536, 512, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
    }
  } finally {
    closeSync(file);
  }
}

const ask = async (path: string, body?: object) => {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await send(
    `${url}${path}`,
    body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
  );
  return { status: answer.status, text: answer.body.toString() };
};

async function readStoreUp(): Promise<string | undefined> {
  return /^erp_proxy_store_up (\d)$/m.exec((await ask('/metrics')).text)?.[1];
}

async function readReadiness(): Promise<{ http: number; status: string; store: string }> {
  const { status, text } = await ask('/readyz');
  const answer = JSON.parse(text);
  return { http: status, status: answer.status, store: answer.checks.store };
}

test.skipIf(!canMount)(
  'reports the full disk before a write fails, refuses changes with the cause, and recovers',
  {},
  async () => {
    const { key } = JSON.parse((await ask('/admin/v1/keys', { name: 'caller' })).text);
    expect(await readReadiness()).toEqual({ http: 200, status: 'ready', store: 'ok' });
    expect(await readStoreUp()).toBe('1');

    fillDisk();
    const full = { http: 200, status: 'degraded', store: expect.stringMatching(/disk is full/) };
    await expect.poll(readReadiness).toEqual(full);
    expect(await readStoreUp()).toBe('0');
    // The file may still have free pages for some keys.
    let refused = await ask('/admin/v1/keys', { name: 'shop' });
    for (let count = 0; refused.status === 201 && count < 1000; count++)
      refused = await ask('/admin/v1/keys', { name: 'shop' });
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/disk is full/),
    });
    expect(refused.text).not.toContain('erp-proxy.db');
    expect((await ask('/admin/v1/keys')).status).toBe(200);
    const { db, users } = sandbox;
    const { userId: user_id, apiKey: api_key } = users.admin;
    const answer = await send(`${url}/api/erp/execute`, {
      method: 'POST',
      headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        action: 'search_count',
        model_id: 'res.partner',
        params: [[]],
        erp_instance: { url: sandbox.url, db, user_id, api_key },
      }),
    });
    expect(answer.status).toBe(200);

    rmSync(join(disk, 'filler'));
    await expect.poll(readReadiness).toEqual({ http: 200, status: 'ready', store: 'ok' });
    expect(await readStoreUp()).toBe('1');
    expect((await ask('/admin/v1/keys', { name: 'shop' })).status).toBe(201);
  },
);

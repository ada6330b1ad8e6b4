import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from './open.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-open-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('opens a SQLite file, with one slash or with the three of a URL', async () => {
  for (const prefix of ['sqlite:', 'sqlite://', 'SQLITE:']) {
    const path = join(directory, `${prefix.length}.db`);
    const store = await openStore(prefix + path);
    await store.close();
    expect(statSync(path).isFile()).toBe(true);
  }
});

test('opens a store that keeps nothing', async () => {
  const store = await openStore('memory:');
  expect(await store.keys.isEmpty()).toBe(true);
  await store.close();
});

test.each([
  '',
  'data/erp-proxy.db',
  './data/erp-proxy.db',
  '/srv/erp-proxy.db',
  'memory:x',
  'mysql://host/db',
])('refuses the address "%s" and says which ones there are', async (url) => {
  await expect(openStore(url)).rejects.toThrow(/sqlite:\.\/data\/erp-proxy\.db.*postgres:.*memory:/);
});

test.each(['sqlite:', 'sqlite://data/erp-proxy.db', 'sqlite::memory:', 'sqlite:a\0b'])(
  'refuses "%s", which names no file',
  async (url) => {
    await expect(openStore(url)).rejects.toThrow('store.url names no file');
  },
);

test('does not repeat the password of an address that it refuses', async () => {
  await expect(openStore('mysql://admin:hunter2@host/db')).rejects.toThrow(/^(?!.*hunter2).*"mysql:"/);
});

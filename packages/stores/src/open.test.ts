import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lookForStore, openStore } from './open.ts';
import { createTestSchema, type TestSchema } from './postgres/database.fixture.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erp-proxy-open-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('opens a SQLite file, from a plain path or from a URL with three slashes', async () => {
  for (const prefix of ['sqlite:', 'sqlite://', 'SQLITE:']) {
    const path = join(directory, `${prefix.length}.db`);
    const store = await openStore(prefix + path);
    await store.close();
    expect(statSync(path).isFile()).toBe(true);
  }
});

test('opens an empty store in memory', async () => {
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
])('refuses the URL "%s" and lists the supported ones', async (url) => {
  await expect(openStore(url)).rejects.toThrow(/sqlite:\.\/data\/erp-proxy\.db.*postgres:.*memory:/);
});

test.each(['sqlite:', 'sqlite://data/erp-proxy.db', 'sqlite::memory:', 'sqlite:a\0b'])(
  'refuses "%s": it names no file',
  async (url) => {
    await expect(openStore(url)).rejects.toThrow('store.url names no file');
  },
);

test('an error does not contain the password of the URL', async () => {
  await expect(openStore('mysql://admin:hunter2@host/db')).rejects.toThrow(/^(?!.*hunter2).*"mysql:"/);
});

test('a store in memory always exists', async () => {
  expect(await lookForStore('memory:')).toEqual({ label: 'memory', exists: true });
});

test('a SQLite file exists once it was opened, and looking for it does not create it', async () => {
  const file = join(directory, 'below/store.db');
  const label = `sqlite ${file}`;
  expect(await lookForStore(`sqlite:${file}`)).toEqual({ label, exists: false });
  expect(existsSync(join(directory, 'below'))).toBe(false);
  await (await openStore(`sqlite:${file}`)).close();
  expect(await lookForStore(`sqlite:${file}`)).toEqual({ label, exists: true });
});

test('an empty file is not a store', async () => {
  writeFileSync(join(directory, 'store.db'), '');
  expect(await lookForStore(`sqlite:${directory}/store.db`)).toMatchObject({ exists: false });
});

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
  });
  afterEach(() => schema.drop());

  test('a PostgreSQL store exists once it was opened, and looking for it creates no tables', async () => {
    const found = await lookForStore(schema.url);
    expect(found).toEqual({ label: expect.stringMatching(/^postgres /), exists: false });
    expect(await lookForStore(schema.url)).toEqual(found);
    await (await openStore(schema.url)).close();
    expect(await lookForStore(schema.url)).toEqual({ ...found, exists: true });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileOfVersion1, createTestSchema, type TestSchema } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSettings } from '../config/load.ts';
import { CommandError } from './command.ts';
import { migrateCommand } from './migrate.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

test('creates a missing file, and finds it up to date the next time', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-migrate-'));
  try {
    const url = `sqlite:${join(directory, 'store.db')}`;
    expect(await migrate(url)).toMatch(/^sqlite \S+store\.db is new; it has version \d+\.\n$/);
    expect(await migrate(url)).toMatch(/^sqlite \S+store\.db is up to date \(version \d+\)\.\n$/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('says that earlier versions do not start on a file that it has upgraded', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-migrate-'));
  try {
    const file = join(directory, 'store.db');
    createFileOfVersion1(file);
    expect(await migrate(`sqlite:${file}`)).toMatch(
      /^sqlite \S+ was brought from version 1 to \d+\. Earlier versions of erp-proxy do not start on it\.\n$/,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('refuses a memory store', async () => {
  await expect(migrate('memory:')).rejects.toThrow(CommandError);
});

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;

  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
  });
  afterEach(() => schema.drop());

  test('prints both versions as text', async () => {
    const [, version] =
      /^postgres \S+ is new; it has version (\d+)\.\n$/.exec(await migrate(schema.url)) ?? [];
    expect(Number(version)).toBeGreaterThan(0);
    expect(await migrate(schema.url)).toMatch(
      new RegExp(`^postgres \\S+ is up to date \\(version ${version}\\)\\.\n$`),
    );
  });

  test('prints both versions as JSON', async () => {
    const { store, from, to } = JSON.parse(await migrate(schema.url, 'json'));
    expect([store, from]).toEqual([expect.stringMatching(/^postgres \S+$/), 0]);
    expect(to).toBeGreaterThan(0);
    expect(JSON.parse(await migrate(schema.url, 'json'))).toEqual({ store, from: to, to });
  });
});

async function migrate(url: string, ...flags: string[]): Promise<string> {
  const loaded = loadSettings({
    argv: [`--store.url=${url}`],
    env: {},
    cwd: '/nowhere',
    readFile: () => {
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('\n'));
  const surroundings = recordSurroundings();
  const status = await migrateCommand.run(
    Object.assign(surroundings, {
      ...loaded,
      reloadSettings: () => loaded.settings,
      version: '1.2.3',
      env: {},
      cwd: '/',
      arguments: [],
      option: () => undefined,
      list: () => [],
      isSet: (name: string) => flags.includes(name),
    }),
  );
  expect(status).toBe(0);
  return surroundings.stdout;
}

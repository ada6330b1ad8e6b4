import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lookForStore } from './look-for-store.ts';
import { openStore } from './open.ts';
import { createTestSchema, type TestSchema } from './postgres/database.fixture.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe('a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'erp-proxy-look-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is a store once it was opened, and is not made by looking for it', async () => {
    const file = join(folder, 'below/store.db');
    const label = `sqlite ${file}`;
    expect(await lookForStore(`sqlite:${file}`)).toEqual({ label, exists: false });
    expect(existsSync(join(folder, 'below'))).toBe(false);
    await (await openStore(`sqlite:${file}`)).close();
    expect(await lookForStore(`sqlite:${file}`)).toEqual({ label, exists: true });
  });

  test('that is empty is no store yet', async () => {
    writeFileSync(join(folder, 'store.db'), '');
    expect(await lookForStore(`sqlite:${folder}/store.db`)).toMatchObject({ exists: false });
  });
});

describe.skipIf(SERVER_URL === '')('a schema on the server that TEST_POSTGRES_URL names', () => {
  let schema: TestSchema;
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
  });
  afterEach(() => schema.drop());

  test('is a store once it was opened, and gets no tables by being looked for', async () => {
    const found = await lookForStore(schema.url);
    expect(found).toEqual({ label: expect.stringMatching(/^postgres /), exists: false });
    expect(await lookForStore(schema.url)).toEqual(found);
    await (await openStore(schema.url)).close();
    expect(await lookForStore(schema.url)).toEqual({ ...found, exists: true });
  });
});

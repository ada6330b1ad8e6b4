import { linkSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameDraft } from '../config/drafts.ts';
import { loadSettings } from '../config/load.ts';
import { createSecretsFile, readSecretsFile } from '../config/secrets-file.ts';
import { createFirstSecrets } from './first-secrets.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-first-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load() {
  const loaded = loadSettings({
    argv: [`--store.url=sqlite:${join(folder, 'proxy.db')}`],
    env: {},
    cwd: folder,
    readFile: () => {
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    },
    readSecrets: readSecretsFile,
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded;
}

test('uses the file that another process created after the settings were loaded', async () => {
  const input = {
    ...load(),
    ...recordSurroundings({ isTerminal: true }),
    reloadSettings: () => load().settings,
  };
  expect(input.settings.admin.token).toBe(null);
  const token = 'a-token-of-more-than-thirty-two-characters';
  createSecretsFile(join(folder, 'secrets.yaml'), { 'admin.token': token });
  const { settings } = await createFirstSecrets(input);
  expect(settings.admin.token).toBe(token);
  expect(input.stdout).toBe('');
});

test.each([true, false])(
  'removes what a killed first start has left; on a terminal: %s',
  async (isTerminal) => {
    const token = 'a-token-of-more-than-thirty-two-characters';
    const path = join(folder, 'secrets.yaml');
    createSecretsFile(path, {
      'admin.token': token,
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    });
    // As if killed between the two steps that create the file: both names lead to the same secrets.
    linkSync(path, nameDraft(path));
    const earlier = new Date(Date.now() - 3_600_000);
    utimesSync(path, earlier, earlier);
    const input = { ...load(), ...recordSurroundings({ isTerminal }), reloadSettings: () => load().settings };
    await createFirstSecrets(input);
    expect(readdirSync(folder)).toEqual(['secrets.yaml']);
  },
);

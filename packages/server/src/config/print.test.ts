import { expect, test } from 'vitest';
import { loadSettings } from './load.ts';
import { SETTING_NAMES } from './names.ts';
import { printSettings } from './print.ts';

const SECRET = 'correct-horse-battery-staple-and-more';

const loaded = loadSettings({
  argv: ['--http.port=9000', '--egress.allow=http://me:hunter2@odoo.internal,10.0.0.0/8'],
  env: { ERP_PROXY_KEYS_HASH_SECRET: SECRET },
  cwd: '/srv',
  readFile: () => 'log:\n  level: warn\n',
});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
const { settings, sources } = loaded;

test('prints each setting with its value and its source', () => {
  const lines = printSettings(settings, sources, 'text').trimEnd().split('\n');
  expect(lines).toHaveLength(SETTING_NAMES.length);
  expect(lines).toContainEqual(expect.stringMatching(/^http\.port = 9000 +# --http\.port$/));
  expect(lines).toContainEqual(expect.stringMatching(/^log\.level = warn +# erp-proxy\.yaml:2$/));
  expect(lines).toContainEqual(expect.stringMatching(/^http\.bodyBytesMax = 32MiB +# default$/));
  expect(lines).toContainEqual(expect.stringMatching(/^upstream\.firstByteTimeoutMs = +# default$/));
});

test('prints JSON with plain values', () => {
  const printed = JSON.parse(printSettings(settings, sources, 'json'));
  expect(Object.keys(printed)).toEqual([...SETTING_NAMES]);
  expect(printed['http.port']).toEqual({ value: 9000, source: '--http.port' });
  expect(printed['http.bodyBytesMax']).toEqual({ value: 33_554_432, source: 'default' });
  expect(printed['upstream.firstByteTimeoutMs']).toEqual({ value: null, source: 'default' });
});

test.each(['text', 'json'] as const)('prints no secret and no password of a URL as %s', (format) => {
  const printed = printSettings(settings, sources, format);
  expect(printed).toContain('***');
  expect(printed).not.toContain(SECRET);
  expect(printed).not.toContain('hunter2');
});

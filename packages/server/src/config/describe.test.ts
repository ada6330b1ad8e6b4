import { expect, test } from 'vitest';
import { renderExampleYaml, renderSettingsMarkdown } from './describe.ts';
import { loadSettings } from './load.ts';
import { nameVariable, SETTING_NAMES } from './names.ts';

test('the example file sets nothing', () => {
  const { sources } = loadFile(renderExampleYaml());
  expect(new Set(sources.values())).toEqual(new Set(['default']));
});

test('the uncommented example file sets every setting to its default', () => {
  const uncommented = renderExampleYaml().replace(/^( *)#(?! )/gm, '$1');
  const { settings, sources } = loadFile(uncommented);
  for (const name of SETTING_NAMES) expect(sources.get(name), name).toMatch(/^erp-proxy\.yaml:\d+$/);
  expect(settings).toEqual(loadFile('# nothing\n').settings);
});

test('the reference page describes every setting', () => {
  const page = renderSettingsMarkdown();
  for (const name of SETTING_NAMES) {
    expect(page).toMatch(new RegExp(`^###? ${name}$`, 'm'));
    expect(page).toContain(`\`${nameVariable(name)}\``);
  }
  expect(page).toContain('`ERP_PROXY_KEYS_HASH_SECRET_FILE`');
});

test('lines of the example file have at most 120 columns', () => {
  for (const line of renderExampleYaml().split('\n')) expect(line.length).toBeLessThanOrEqual(120);
});

function loadFile(text: string) {
  const loaded = loadSettings({ argv: [], env: {}, cwd: '/srv', readFile: () => text });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded;
}

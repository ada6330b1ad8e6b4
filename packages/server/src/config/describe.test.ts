import { expect, test } from 'vitest';
import { renderExampleYaml, renderSettingsMarkdown } from './describe.ts';
import { loadSettings } from './load.ts';
import { nameVariable, SETTING_NAMES } from './names.ts';

test('gives an example file that changes nothing as it is', () => {
  const { sources } = loadFile(renderExampleYaml());
  expect(new Set(sources.values())).toEqual(new Set(['default']));
});

test('gives an example file that sets every setting to its default once it is uncommented', () => {
  const uncommented = renderExampleYaml().replace(/^( *)#(?! )/gm, '$1');
  const { settings, sources } = loadFile(uncommented);
  for (const name of SETTING_NAMES) expect(sources.get(name), name).toMatch(/^erp-proxy\.yaml:\d+$/);
  expect(settings).toEqual(loadFile('# nothing\n').settings);
});

test('describes every setting in the reference page', () => {
  const page = renderSettingsMarkdown();
  for (const name of SETTING_NAMES) {
    expect(page).toMatch(new RegExp(`^###? ${name}$`, 'm'));
    expect(page).toContain(`\`${nameVariable(name)}\``);
  }
  expect(page).toContain('`ERP_PROXY_KEYS_HASH_SECRET_FILE`');
});

test('keeps the lines of the example file within 120 columns', () => {
  for (const line of renderExampleYaml().split('\n')) expect(line.length).toBeLessThanOrEqual(120);
});

function loadFile(text: string) {
  const loaded = loadSettings({ argv: [], env: {}, cwd: '/srv', readFile: () => text });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded;
}

/**
 * Finds settings without effect: no code outside of config/, which describes and loads settings, reads them. Code reads
 * `http.port` by that name, or passes the group `http` on and reads `port` from it.
 */
import { expect, test } from 'vitest';
import { SETTING_NAMES, splitName } from '../../src/config/names.ts';
import { findFiles, readText } from './repository-files.ts';

const NO_CODE = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*|'(?:[^'\\\n]|\\.)*'(?!\])/gm;
const CODE = findFiles(
  'packages/{admin,agents,control,data,gateway,http,observe,server,stores,traffic}/src/**/*.ts',
)
  .filter((file) => !/^packages\/server\/src\/config\/|\.(test|fixture)\.ts$/.test(file))
  .map((file) => readText(file).replace(NO_CODE, "''"))
  .join('\n');

function isRead(group: string, key: string): boolean {
  if (new RegExp(`\\b${group}\\.${key}\\b`).test(CODE)) return true;
  const isHandedOn = new RegExp(
    `\\bsettings\\.${group}\\b(?!\\.)|\\bSettings\\['${group}'\\]|\\{ ${group}: \\w+ \\}`,
  );
  return isHandedOn.test(CODE) && new RegExp(`(\\.|[{,]\\s*)${key}\\b`).test(CODE);
}

test('each setting is read by code', () => {
  expect(SETTING_NAMES.length).toBeGreaterThan(50);
  const unread = SETTING_NAMES.filter((name) => {
    const [group, key] = splitName(name);
    return key === undefined ? !isRead('settings', group) : !isRead(group, key);
  });
  expect(unread).toEqual([]);
});

test('a setting that is only described is found', () => {
  expect(isRead('data', 'enabled')).toBe(false);
  expect(isRead('settings', 'requests')).toBe(false);
});

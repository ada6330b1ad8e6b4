/** Every setting is read by code outside of config/, which only describes and loads settings. */
import { expect, test } from 'vitest';
import { SETTING_NAMES } from '../../src/config/names.ts';
import { findFiles, readText } from './repository-files.ts';

const SOURCES = findFiles('packages/server/src/**/*.ts')
  .filter((file) => !/^packages\/server\/src\/config\/|\.(test|fixture)\.ts$/.test(file))
  .map(readText);

/**
 * `settings.http.port`, or `http: { port }` and `{ port } = settings.http`, which name both in one place. The members of
 * a group that is passed on as a whole can be read anywhere.
 */
function isRead(setting: string): boolean {
  const [group = '', name = ''] = setting.split('.');
  const after = new RegExp(`\\b${group}\\b[^;]{0,400}\\b${name}\\b`);
  const before = new RegExp(`\\b${name}\\b[^;]{0,400}\\bsettings\\.${group}\\b`);
  const whole = new RegExp(`\\bsettings\\.${group}\\b(?!\\.)`);
  const member = new RegExp(`\\b${name}\\b`);
  const isIn = (pattern: RegExp) => SOURCES.some((source) => pattern.test(source));
  return isIn(after) || isIn(before) || (isIn(whole) && isIn(member));
}

test('no setting is without effect', () => {
  expect(SETTING_NAMES.length).toBeGreaterThan(50);
  expect(SETTING_NAMES.filter((name) => !isRead(name))).toEqual([]);
});

test('a setting that no code reads is found', () => {
  expect(isRead('http.portOfNobody')).toBe(false);
});

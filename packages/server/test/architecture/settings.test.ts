/** Finds settings without effect: no code outside config/, which describes and loads settings, contains their name. */
import { expect, test } from 'vitest';
import { SETTING_NAMES } from '../../src/config/names.ts';
import { findFiles, readText } from './repository-files.ts';

const WORDS = new Set(
  findFiles('packages/server/src/**/*.ts')
    .filter((file) => !/^packages\/server\/src\/config\/|\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => readText(file).match(/\w+/g) ?? []),
);

test('each setting is named in code', () => {
  expect(SETTING_NAMES.length).toBeGreaterThan(50);
  const names = SETTING_NAMES.map((setting) => setting.slice(setting.indexOf('.') + 1));
  expect(names.filter((name) => !WORDS.has(name))).toEqual([]);
});

/** Checks temporary files of tests, scripts and benchmarks: each run removes its own files. */
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

/**
 * Code that makes a temporary folder of its own. Functions that make folders get one folder for the whole run instead.
 */
const MAKES_FOLDER = /\bmkdtemp(Sync)?\(join\(tmpdir\(\)/;
const REMOVES = /\brm(Sync)?\(/;
const FIXED_PATH = /[`'":]\/tmp\/erp-proxy/;

const files = ['packages/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts', 'chaos/**/*.ts'].flatMap(findFiles);

test('whoever makes a temporary folder also removes it', () => {
  const makers = files.filter((file) => MAKES_FOLDER.test(readText(file)));
  expect(makers.length).toBeGreaterThan(20);
  expect(makers.filter((file) => !REMOVES.test(readText(file)))).toEqual([]);
});

test('no temporary file has a path of its own in place of a folder that is removed', () => {
  expect(files.filter((file) => FIXED_PATH.test(readText(file)))).toEqual([]);
});

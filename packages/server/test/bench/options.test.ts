import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readOptions } from '../../../../bench/options.ts';
import { root } from '../architecture/repository-files.ts';
import { makeFolder } from '../process/program.ts';

const NAMES = { scenarios: ['speed', 'idle'], cases: ['small-keep', 'large-close'] };

describe('the options of the benchmarks', () => {
  test('without options, all scenarios run in full', () => {
    const none = { isQuick: false, only: null, compare: null, save: null, page: null };
    expect(readOptions([], NAMES)).toEqual(none);
  });

  test('take a checkout and one case of the comparison', () => {
    const options = readOptions(['--compare', root, '--only', 'small-keep', '--quick'], NAMES);
    expect(options).toMatchObject({ isQuick: true, only: 'small-keep', compare: { kind: 'checkout' } });
  });

  test('take a file of a saved run and one scenario', () => {
    const file = join(makeFolder(), 'saved.json');
    writeFileSync(file, '{}');
    const options = readOptions(['--compare', file, '--only', 'idle', '--save', file], NAMES);
    expect(options).toMatchObject({ only: 'idle', compare: { kind: 'file', path: file }, save: file });
  });

  test('refuse names that do not exist, and list those that do', () => {
    expect(() => readOptions(['--only', 'small-keep'], NAMES)).toThrow('no scenario; there are speed, idle');
    expect(() => readOptions(['--compare', root, '--only', 'speed'], NAMES)).toThrow('no case; there are');
    expect(() => readOptions(['--compare', join(root, 'nowhere')], NAMES)).toThrow('neither a checkout');
    expect(() => readOptions(['--sav', 'x'], NAMES)).toThrow('--sav');
  });

  test('refuse to save the figures of a comparison with a checkout', () => {
    expect(() => readOptions(['--compare', root, '--save', 'x.json'], NAMES)).toThrow('--save');
  });
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readOptions } from '../../../../bench/options.ts';
import { root } from '../architecture/repository-files.ts';

const NAMES = { scenarios: ['speed', 'idle'], cases: ['small-keep', 'large-close'] };

describe('the options of the benchmarks', () => {
  test('without options, all scenarios run in full', () => {
    expect(readOptions([], NAMES)).toEqual({ isQuick: false, only: null, compare: null });
  });

  test('take a checkout and one case of the comparison', () => {
    const options = readOptions(['--compare', root, '--only', 'small-keep', '--quick'], NAMES);
    expect(options).toMatchObject({ isQuick: true, only: 'small-keep', compare: root.replace(/\/$/, '') });
  });

  test('refuse names that do not exist, and list those that do', () => {
    expect(() => readOptions(['--only', 'small-keep'], NAMES)).toThrow('no scenario; there are speed, idle');
    expect(() => readOptions(['--compare', root, '--only', 'speed'], NAMES)).toThrow('no case; there are');
    expect(() => readOptions(['--compare', join(root, 'nowhere')], NAMES)).toThrow('no checkout');
    expect(() => readOptions(['--sav', 'x'], NAMES)).toThrow('--sav');
  });
});

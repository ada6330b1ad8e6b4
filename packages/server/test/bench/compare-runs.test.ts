import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareRuns, findSlowness } from '../../../../bench/compare-runs.ts';
import {
  listFigures,
  readRun,
  type SavedFigure,
  type SavedRun,
  writeRun,
} from '../../../../bench/saved-run.ts';
import { microseconds, times } from '../../../../bench/scenario.ts';
import { makeFolder } from '../process/program.ts';

const FLOOR: SavedFigure = {
  name: 'Small answers: by hand, CPU µs/call',
  unit: 'µs',
  digits: 0,
  rounds: [98, 100, 102],
  isFloor: true,
};
const CALL: SavedFigure = {
  name: 'Small answers: erp-proxy, CPU µs/call',
  unit: 'µs',
  digits: 0,
  rounds: [190, 200, 210],
};
const RATE: SavedFigure = { name: 'Calls', unit: 'calls/s', digits: 0, rounds: [1000, 1000, 1000] };
const PEAK: SavedFigure = { name: 'Peak', unit: 'MiB', digits: 0, rounds: [100] };

describe('the comparison with a saved run', () => {
  test('shows no difference if only the machine was slower', () => {
    const now = [slow(FLOOR, 1.5), slow(CALL, 1.5), slow(RATE, 1 / 1.5), PEAK];
    const rows = compareRuns(run([FLOOR, CALL, RATE, PEAK]), run(now)).rows;
    expect(rows.map((row) => row[3])).toEqual(['1.00', '1.00', '1.00', '1.00']);
    expect(rows[1]).toEqual([CALL.name, '200', '300', '1.00', '0.95 to 1.05']);
  });

  test('shows a change of the code on a slower machine', () => {
    const { rows, notes } = compareRuns(run([FLOOR, CALL]), run([slow(FLOOR, 2), slow(CALL, 1)]));
    expect(rows[1]?.[3]).toBe('0.50');
    expect(notes.join(' ')).toContain('took 2.00 times as long');
    expect(notes.join(' ')).not.toContain('WARNING');
  });

  test('corrects no memory and no ratio', () => {
    const ratio: SavedFigure = { name: 'Ratio', ...times([2, 2, 2]) };
    const rows = compareRuns(run([FLOOR, PEAK, ratio]), run([slow(FLOOR, 2), PEAK, ratio])).rows;
    expect(rows.slice(1).map((row) => row[3])).toEqual(['1.00', '1.00']);
  });

  test('says that nothing was corrected if a run lacks the minimal programs', () => {
    expect(findSlowness(run([CALL]), run([FLOOR, CALL]))).toBeNull();
    const { rows, notes } = compareRuns(run([CALL]), run([slow(CALL, 2)]));
    expect(rows[0]?.[3]).toBe('2.00');
    expect(notes.join(' ')).toContain('not corrected');
  });

  test('warns of another machine, another Node and a quick run', () => {
    const saved = { ...run([CALL]), machine: '64 cores', node: '22.0.0' };
    const warnings = compareRuns(saved, { ...run([CALL]), isQuick: true }).notes.filter((note) =>
      note.startsWith('WARNING'),
    );
    expect(warnings.join('\n')).toMatch(/64 cores.*22\.0\.0.*quick/s);
  });

  test('counts figures that only one run has', () => {
    const { rows, notes } = compareRuns(run([CALL, RATE, PEAK]), run([CALL, FLOOR]));
    expect(rows).toHaveLength(1);
    expect(notes.at(-1)).toContain('2 figures that only the saved run has, and 1 that only this one has');
  });
});

test('a saved run is read as it was written', () => {
  const file = join(makeFolder(), 'run.json');
  writeRun(file, run([FLOOR, PEAK]));
  expect(readRun(file)).toEqual(run([FLOOR, PEAK]));
});

test('the figures of a table are its measured cells, by row and column', () => {
  const rows = [['erp-proxy', microseconds([3, 1, 2]), 'a text', times([])]];
  const columns = ['', 'CPU µs/call', 'remark', 'ratio'];
  const figures = listFigures({ title: 'Start', columns, rows, notes: [], findings: [] });
  expect(figures).toEqual([
    { name: 'Start: erp-proxy, CPU µs/call', unit: 'µs', digits: 0, rounds: [3, 1, 2] },
  ]);
});

function run(figures: SavedFigure[]): SavedRun {
  return {
    date: '2026-01-02T03:04:05.000Z',
    commit: 'abc1234',
    machine: '2 cores',
    node: '24.0.0',
    isQuick: false,
    figures,
  };
}

function slow(figure: SavedFigure, factor: number): SavedFigure {
  return { ...figure, rounds: figure.rounds.map((value) => value * factor) };
}

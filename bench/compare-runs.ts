/**
 * `npm run bench -- --compare <file>`: compares the figures of this run with those of a saved one. Both runs measured
 * the minimal programs, whose code never changes: how much longer these took is how much slower the machine was.
 */
import type { SavedFigure, SavedRun } from './saved-run.ts';
import { type Figure, findMedian, findQuantile, type Table } from './scenario.ts';

const TIMES: readonly Figure['unit'][] = ['µs', 'ms', 's', '%'];
const RATES: readonly Figure['unit'][] = ['calls/s'];

export function compareRuns(saved: SavedRun, now: SavedRun): Table {
  const slowness = findSlowness(saved, now);
  const pairs = now.figures.flatMap((figure) => {
    const other = saved.figures.find(({ name }) => name === figure.name);
    return other === undefined ? [] : [{ figure, other }];
  });
  return {
    title: `This run against ${saved.commit} of ${saved.date.slice(0, 16).replace('T', ' ')}`,
    columns: ['', 'saved', 'now', 'ratio', 'spread of the ratio'],
    rows: pairs.map(({ figure, other }) => tabulate(other, figure, slowness ?? 1)),
    notes: [...listWarnings(saved, now), explain(slowness), ...describeOthers(saved, now, pairs.length)],
    findings: [],
  };
}

/** How many times as long the minimal programs took as in the saved run; null if a run lacks them. */
export function findSlowness(saved: SavedRun, now: SavedRun): number | null {
  const ratios = now.figures.flatMap(({ name, isFloor, rounds }) => {
    const other = saved.figures.find((figure) => figure.name === name);
    return isFloor !== true || other === undefined ? [] : [findMedian(rounds) / findMedian(other.rounds)];
  });
  return ratios.length === 0 ? null : findMedian(ratios);
}

function tabulate(saved: SavedFigure, now: SavedFigure, slowness: number): string[] {
  const scale = TIMES.includes(now.unit) ? 1 / slowness : RATES.includes(now.unit) ? slowness : 1;
  const divide = (dividend: number, divisor: number) => ((dividend / divisor) * scale).toFixed(2);
  const [savedMedian, nowMedian] = [findMedian(saved.rounds), findMedian(now.rounds)];
  const hasSpread = saved.rounds.length > 2 && now.rounds.length > 2;
  const low = divide(findQuantile(now.rounds, 0.25), findQuantile(saved.rounds, 0.75));
  const high = divide(findQuantile(now.rounds, 0.75), findQuantile(saved.rounds, 0.25));
  return [
    now.name,
    savedMedian.toFixed(now.digits),
    nowMedian.toFixed(now.digits),
    divide(nowMedian, savedMedian),
    hasSpread ? `${low} to ${high}` : '',
  ];
}

function listWarnings(saved: SavedRun, now: SavedRun): string[] {
  const differences = [
    ...(saved.machine === now.machine ? [] : [`it ran on another machine: ${saved.machine}`]),
    ...(saved.node === now.node ? [] : [`it ran on Node ${saved.node}, this one on ${now.node}`]),
    ...(saved.isQuick === now.isQuick
      ? []
      : [`it was a ${saved.isQuick ? 'quick' : 'full'} run, this one was not`]),
    ...(now.isQuick ? ['a quick run has too few calls for meaningful figures'] : []),
  ];
  return differences.map((difference) => `WARNING: do not trust the ratios of times. Cause: ${difference}.`);
}

function explain(slowness: number | null): string {
  if (slowness === null) {
    return 'Ratios are not corrected for load on the machine, because a run lacks the minimal programs (scenarios speed and paced).';
  }
  return `The minimal programs took ${slowness.toFixed(2)} times as long as in the saved run, so ratios of times are divided by this, and those of calls per second multiplied. The spread is between the quartiles of the rounds: if 1.00 is within it, this shows no difference.`;
}

function describeOthers(saved: SavedRun, now: SavedRun, compared: number): string[] {
  const [onlySaved, onlyNow] = [saved.figures.length - compared, now.figures.length - compared];
  return onlySaved + onlyNow === 0
    ? []
    : [
        `Not compared: ${onlySaved} figures that only the saved run has, and ${onlyNow} that only this one has.`,
      ];
}

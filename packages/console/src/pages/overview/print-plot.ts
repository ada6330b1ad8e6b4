/** Prints the texts of plots. Pure. */
import { printMoment } from '../../parts/print-moment.ts';
import type { Point } from './periods.ts';

const DAY_MS = 86_400_000;
const days = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const counts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Prints a time for the axis: the time of day, or the day if the range has several. */
export function printAxisTime(at: number, spanMs: number): string {
  return spanMs > 2 * DAY_MS ? days.format(at) : printMoment(at).slice(11, 16);
}

/** Prints a number in short, for example `950`, `1.2K`. */
export function printCount(count: number): string {
  return counts.format(count);
}

/** Prints a duration, for example `0.4 ms`, `12 ms`, `1.5 s`. */
export function printDuration(durationMs: number): string {
  if (durationMs >= 1_000) return `${Number((durationMs / 1_000).toFixed(1))} s`;
  return `${Number(durationMs.toFixed(durationMs < 10 ? 1 : 0))} ms`;
}

/** Describes a plot in words: the highest value of each series. */
export function describePlot(
  title: string,
  points: readonly Point[],
  series: readonly { name: string; label: string }[],
  print: (value: number) => string,
): string {
  const parts = series.flatMap(({ name, label }) => {
    let highest: Point | null = null;
    for (const point of points) if ((point[name] ?? 0) > (highest?.[name] ?? 0)) highest = point;
    if (highest === null) return [];
    return `${label}: at most ${print(highest[name] ?? 0)}, at ${printMoment(highest.at)}`;
  });
  return `${title}. ${parts.join('. ')}.`;
}

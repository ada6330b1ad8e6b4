const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const satisfies [Intl.RelativeTimeFormatUnit, number][];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Prints a time relative to now, for example `3 hours ago`, `in 5 days`, `just now`. */
export function printAge(distanceMs: number): string {
  const size = Math.abs(distanceMs);
  for (const [unit, unitMs] of UNITS) {
    if (size >= unitMs) return format.format(Math.trunc(distanceMs / unitMs), unit);
  }
  return distanceMs > 1_000 ? 'in a moment' : 'just now';
}

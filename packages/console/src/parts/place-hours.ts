/** Places hourly counts on a time axis. Pure. */

export interface Bar {
  at: string;
  calls: number;
  errors: number;
}

interface Hours {
  since: string;
  until: string;
  /** The hours that had calls. */
  periods: readonly { at: string; calls: number; errors: Record<string, number> }[];
}

const HOUR_MS = 3_600_000;

/** Returns a bar for each hour of the range, also for hours without calls. */
export function placeHours({ since, until, periods }: Hours): Bar[] {
  const byTime = new Map(periods.map((period) => [floorHour(period.at), period]));
  const bars: Bar[] = [];
  for (let at = floorHour(since); at < Date.parse(until); at += HOUR_MS) {
    const period = byTime.get(at);
    const errors = Object.values(period?.errors ?? {}).reduce((sum, count) => sum + count, 0);
    bars.push({ at: new Date(at).toISOString(), calls: period?.calls ?? 0, errors });
  }
  return bars;
}

function floorHour(at: string): number {
  return Math.floor(Date.parse(at) / HOUR_MS) * HOUR_MS;
}

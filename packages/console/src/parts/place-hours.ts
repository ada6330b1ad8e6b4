/** Places counts of hours on a line of time. Pure. */

export interface Bar {
  at: string;
  calls: number;
  errors: number;
}

interface Hours {
  since: string;
  until: string;
  /** Hours without calls are left out. */
  periods: readonly { at: string; calls: number; errors: Record<string, number> }[];
}

const HOUR_MS = 3_600_000;

/** One bar for each hour of the range, also for those without calls. */
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

/** Counts lost records, and reports them at most once a second. */
const REPORT_INTERVAL_MS = 1000;

export interface Losses {
  add(records: number): void;
  readonly total: number;
  /** Reports the remaining losses. */
  close(): void;
}

export function createLosses(onLost: (records: number) => void): Losses {
  let total = 0;
  let unreported = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(): void {
    timer = undefined;
    if (unreported === 0) return;
    const records = unreported;
    unreported = 0;
    timer = setTimeout(report, REPORT_INTERVAL_MS).unref();
    onLost(records);
  }

  return {
    add(records) {
      total += records;
      unreported += records;
      if (timer === undefined) report();
    },
    get total() {
      return total;
    },
    close() {
      clearTimeout(timer);
      report();
      clearTimeout(timer);
    },
  };
}

/** Counts records that could not be kept, and tells of them at most once a second. */
const TOLD_EVERY_MS = 1000;

export interface Losses {
  add(records: number): void;
  readonly total: number;
  /** Tells what is not told yet. */
  close(): void;
}

export function createLosses(onLost: (records: number) => void): Losses {
  let total = 0;
  let untold = 0;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    timer = undefined;
    if (untold === 0) return;
    const records = untold;
    untold = 0;
    timer = setTimeout(tell, TOLD_EVERY_MS).unref();
    onLost(records);
  }

  return {
    add(records) {
      total += records;
      untold += records;
      if (timer === undefined) tell();
    },
    get total() {
      return total;
    },
    close() {
      clearTimeout(timer);
      tell();
      clearTimeout(timer);
    },
  };
}

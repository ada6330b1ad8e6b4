/**
 * A lower bound of the time of the database, in seconds, from the answers of the server alone: their header `date`, and
 * the latest `write_date` in them. Never uses the clock of the proxy. Pure.
 */
/** The clock of the server, in whole seconds since 1970. */
export interface ServerClock {
  /** A time at which Odoo had not read the rows yet. */
  asked: number;
  /** The time in the header `date` of the answer. */
  answered: number;
}

/** What is known of the server's time, as a plain JSON value. */
export interface ServerTime {
  /** The time in the latest header `date`; null if there was none. */
  readonly answered: number | null;
  /**
   * At least the clock of the database minus that of the web server. Never above 0: rows that were written while the
   * clock was wrong may be in the future. Null until a row was seen.
   */
  readonly offset: number | null;
  /** A time that is not after the database's time when the latest answer was asked for; null if unknown. */
  readonly now: number | null;
}

export const UNKNOWN_TIME: ServerTime = { answered: null, offset: null, now: null };

/** Smaller differences are ignored: several web servers may answer, and clocks are corrected a little all the time. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/** `newest`: the latest `write_date` in the answer; null if there is none. */
export function updateServerTime(
  time: ServerTime,
  clock: ServerClock | null,
  newest: number | null,
): { time: ServerTime; hasGoneBack: boolean } {
  if (clock === null) {
    // The time of the database is at least the latest time that it has written.
    const now = newest === null ? time.now : Math.max(newest, time.now ?? newest);
    return { time: { ...time, now }, hasGoneBack: false };
  }
  const { asked, answered } = clock;
  // Minus one second, because the header has whole seconds.
  const seen = newest === null ? null : Math.min(0, newest - answered - 1);
  const offset = seen === null ? time.offset : Math.max(seen, time.offset ?? seen);
  const hasGoneBack = time.answered !== null && answered < time.answered - CLOCK_TOLERANCE_SECONDS;
  const found = offset === null ? null : asked + offset;
  const isLater = found !== null && (time.now === null || found > time.now || hasGoneBack);
  return { time: { answered, offset, now: isLater ? found : time.now }, hasGoneBack };
}

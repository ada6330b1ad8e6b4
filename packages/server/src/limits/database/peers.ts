/**
 * Port: what processes tell each other about the circuit breakers of databases. All times are milliseconds of the
 * process's own clock, the `nowMs` of its database limiters.
 */

/** Minimum and maximum time for which a breaker stays open before a probe. */
export const OPEN_MS_MIN = 1000;
export const OPEN_MS_MAX = 30_000;

/** Why and until when calls to a database are refused. */
export interface Opening {
  /** The only client that has seen the failures, and the only one that is refused. Null if several have seen them. */
  readonly witness: string | null;
  /** Start of the first failed call. The server has not answered any call that began later. */
  readonly sinceMs: number;
  /** How long the breaker stays open this time. Each failed probe doubles it. */
  readonly openMs: number;
  /** From this time on, a call may probe. */
  readonly untilMs: number;
  /** A probe may be running until this time. In the past if there is none. */
  readonly probeUntilMs: number;
  /**
   * The client whose probe is running, or whose last one showed nothing. Until `othersUntilMs` only other clients may
   * send the next probe, so that no client can block it.
   */
  readonly lastProber: string | null;
  readonly othersUntilMs: number;
}

/** The server has answered. */
export interface Answered {
  readonly answeredMs: number;
}

export type BreakerNews = Opening | Answered;

export interface Peers {
  /** The latest news of the database. Null if there is none, or if it answers. */
  find(database: string): Opening | null;
  /** `isProbe`: a probe of this process has failed. */
  publishOpened(database: string, opening: Opening, isProbe: boolean): void;
  publishAnswered(database: string): void;
  /** The probe of this process showed nothing. */
  returnProbe(database: string, opening: Opening): void;
  /**
   * Whether this process may send the probe that its breaker has begun. Only one process may. True if the others cannot
   * be asked. Other news from them reaches the listener before the promise resolves. Never rejects; resolves soon.
   */
  requestProbe(database: string, opening: Opening): true | Promise<boolean>;
  /** Sets the only listener. It receives the actions of other processes and the results of this process's own. */
  onNews(listener: (database: string, news: BreakerNews) => void): void;
}

/** For a single process. */
export const NO_PEERS: Peers = {
  find: () => null,
  publishOpened() {},
  publishAnswered() {},
  returnProbe() {},
  requestProbe: () => true,
  onNews() {},
};

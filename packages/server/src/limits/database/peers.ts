/**
 * What processes tell each other of the breakers of databases: a port. All times are milliseconds of the process's own
 * clock, the `nowMs` of its gate.
 */

/** A database is left alone for no less and no more at a time. */
export const OPEN_MS_MIN = 1000;
export const OPEN_MS_MAX = 30_000;

/** Why calls to a database are refused, and until when. */
export interface Opening {
  /** The client that alone has seen the failures, and alone is refused; null: several have. */
  readonly witness: string | null;
  /** When the first of the calls that failed began: the server has answered nobody since. */
  readonly sinceMs: number;
  /** For how long it is left alone this time; each probe that fails doubles it. */
  readonly openMs: number;
  /** From then on a call may probe. */
  readonly untilMs: number;
  /** Until then at most a probe is under way; in the past: none is. */
  readonly probeUntilMs: number;
  /** Whose probe told nothing, or not yet: the next is left to others for a while, so that no client can hold the place. */
  readonly lastProber: string | null;
  readonly othersUntilMs: number;
}

/** The server was found well. */
export interface Answered {
  readonly answeredMs: number;
}

export type BreakerNews = Opening | Answered;

export interface Peers {
  /** As last heard; null: nothing, or that it is well. */
  find(database: string): Opening | null;
  /** `isProbe`: this process's probe has failed. */
  tellOpened(database: string, opening: Opening, isProbe: boolean): void;
  tellAnswered(database: string): void;
  /** This process's probe has told nothing. */
  returnProbe(database: string, opening: Opening): void;
  /**
   * Whether this process may send the probe that its breaker has begun: of all processes one may. True where nobody can be
   * asked. What the others know otherwise is told to the listener first. Never rejects, and never waits for long.
   */
  askProbe(database: string, opening: Opening): true | Promise<boolean>;
  /** The one listener: told of what others did, and of what became of the telling. */
  onNews(listener: (database: string, news: BreakerNews) => void): void;
}

/** Of a process that is alone. */
export const NO_PEERS: Peers = {
  find: () => null,
  tellOpened() {},
  tellAnswered() {},
  returnProbe() {},
  askProbe: () => true,
  onNews() {},
};

/**
 * A process of one core behind a {@link Door}, in simulated time: its event loop turns, and what it does in a turn takes
 * the time that the calls and refusals of a real one take, in proportion.
 */
import { Door } from './door.ts';

/** Processor time in milliseconds. */
const CALL_MS = 0.34;
const PIECES = 6;
const REQUEST_MS = 0.02;
const REFUSAL_MS = 0.06;
const TURN_MS = 0.005;

export const CALLS_PER_SECOND_MAX = 1000 / (CALL_MS + REQUEST_MS);

interface Connection {
  isHeard: boolean;
  /** When its caller has sent what waits to be read; null where nothing does. */
  sentMs: number | null;
}

interface RunningCall {
  leftPieces: number;
  end(): void;
}

export interface Fate {
  sentMs: number;
  /** When it came to the door. */
  cameMs: number;
  endedMs: number;
}

export class SimulatedProcess {
  nowMs = 0;
  readonly answered: Fate[] = [];
  readonly refused: Fate[] = [];
  /** Calls that found all connections busy. */
  notSent = 0;
  /** False: it never answers, and calls wait there. */
  isOdooUp = true;
  atOdoo = 0;
  readonly door = new Door({
    nowMs: () => this.nowMs,
    atEndOfTurn: (callback) => this.#atEndOfTurn.push(callback),
    onRefused: (count) => {
      this.told += count;
    },
  });
  told = 0;
  #atEndOfTurn: (() => void)[] = [];
  #free: Connection[];
  /** Have something to read, and are heard. */
  #readable: Connection[] = [];
  #running: RunningCall[] = [];
  #dueCalls = 0;

  constructor(connections: number) {
    this.#free = Array.from({ length: connections }, () => ({ isHeard: true, sentMs: null }));
  }

  get running(): number {
    return this.#running.length;
  }

  /** Callers send so many calls a second, on whichever connections are free. */
  offer(perSecond: number, seconds: number): void {
    const endMs = this.nowMs + seconds * 1000;
    let lastMs = this.nowMs;
    while (this.nowMs < endMs) {
      this.#dueCalls += ((this.nowMs - lastMs) / 1000) * perSecond;
      lastMs = this.nowMs;
      while (this.#dueCalls >= 1) {
        this.#dueCalls--;
        this.send();
      }
      this.turn();
    }
  }

  /** One call more, at once. */
  send(): void {
    const connection = this.#free.shift();
    if (connection === undefined) {
      this.notSent++;
      return;
    }
    connection.sentMs = this.nowMs;
    if (connection.isHeard) this.#readable.push(connection);
  }

  turn(): void {
    const beganMs = this.nowMs;
    for (const call of this.#running.splice(0)) this.#work(call);
    for (const connection of this.#readable.splice(0)) this.#read(connection);
    for (const callback of this.#atEndOfTurn.splice(0)) callback();
    // Where there was nothing to do, the loop pauses.
    this.nowMs += this.nowMs > beganMs ? TURN_MS : 0.2;
  }

  #work(call: RunningCall): void {
    this.nowMs += CALL_MS / PIECES;
    if (--call.leftPieces === 0) call.end();
    else if (call.leftPieces === PIECES / 2 && !this.isOdooUp) this.atOdoo++;
    else this.#running.push(call);
  }

  #read(connection: Connection): void {
    const sentMs = connection.sentMs as number;
    const cameMs = this.nowMs;
    connection.sentMs = null;
    this.nowMs += REQUEST_MS;
    let rest: ((hear: () => void) => void) | null = null;
    const keepUnheard = () => {
      connection.isHeard = false;
      return () => {
        connection.isHeard = true;
        if (connection.sentMs !== null) this.#readable.push(connection);
      };
    };
    const end = (fates: Fate[]) => {
      rest?.(keepUnheard());
      this.#free.push(connection);
      fates.push({ sentMs, cameMs, endedMs: this.nowMs });
    };
    this.door.enter({
      hasLeft: false,
      letIn: () => {
        this.#running.push({ leftPieces: PIECES, end: () => end(this.answered) });
      },
      restAfterwards: (callback) => {
        rest = callback;
      },
      refuse: () => {
        this.nowMs += REFUSAL_MS;
        end(this.refused);
        return keepUnheard();
      },
    });
  }
}

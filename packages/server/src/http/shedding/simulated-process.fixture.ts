/**
 * A process of one core behind a {@link LoadShedder}, in simulated time: its event loop turns, and what it does in a turn takes
 * the time that the calls and refusals of a real one take, in proportion.
 */
import { LoadShedder } from './load-shedder.ts';

/** Processor time in milliseconds. */
const CALL_MS = 0.34;
const PIECES = 6;
const REQUEST_MS = 0.004;
const REFUSAL_MS = 0.006;
const TURN_MS = 0.005;

export const CALLS_PER_SECOND_MAX = 1000 / (CALL_MS + REQUEST_MS);

interface RunningCall {
  leftPieces: number;
  end(): void;
}

export interface Fate {
  sentMs: number;
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
  readonly door = new LoadShedder({
    nowMs: () => this.nowMs,
    atEndOfTurn: (callback) => this.#atEndOfTurn.push(callback),
    onRefused: (count) => {
      this.told += count;
    },
  });
  told = 0;
  #atEndOfTurn: (() => void)[] = [];
  readonly #refusalMs: number;
  /** Connections. */
  #free: number;
  /** When the requests were sent that are to be read. */
  #unread: number[] = [];
  #running: RunningCall[] = [];
  #dueCalls = 0;

  constructor(connections: number, { refusalMs = REFUSAL_MS } = {}) {
    this.#free = connections;
    this.#refusalMs = refusalMs;
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
    if (this.#free === 0) {
      this.notSent++;
      return;
    }
    this.#free--;
    this.#unread.push(this.nowMs);
  }

  turn(): void {
    const beganMs = this.nowMs;
    for (const call of this.#running.splice(0)) this.#work(call);
    for (const sentMs of this.#unread.splice(0)) this.#read(sentMs);
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

  #read(sentMs: number): void {
    this.nowMs += REQUEST_MS;
    const end = (fates: Fate[]) => {
      this.#free++;
      fates.push({ sentMs, endedMs: this.nowMs });
    };
    this.door.enter({
      hasLeft: false,
      letIn: () => {
        this.#running.push({ leftPieces: PIECES, end: () => end(this.answered) });
      },
      refuse: () => {
        this.nowMs += this.#refusalMs;
        end(this.refused);
      },
    });
  }
}

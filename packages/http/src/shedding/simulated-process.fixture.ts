/**
 * Simulates a process of one core behind a {@link LoadShedder}. Calls and refusals take simulated time, in the
 * proportions measured on a real process.
 */
import { LoadShedder } from './load-shedder.ts';

/** Processor time in milliseconds: of a whole call, of reading a request, of a refusal, of a turn itself. */
const CALL_MS = 0.34;
const PIECES_PER_CALL = 6;
const REQUEST_MS = 0.004;
const REFUSAL_MS = 0.006;
const TURN_MS = 0.005;

export const CALLS_PER_SECOND_MAX = 1000 / (CALL_MS + REQUEST_MS);

interface RunningCall {
  leftPieces: number;
  end(): void;
}

export interface RequestTimes {
  sentMs: number;
  endedMs: number;
}

export class SimulatedProcess {
  nowMs = 0;
  readonly answered: RequestTimes[] = [];
  readonly refused: RequestTimes[] = [];
  /** Calls that were not sent because all connections were busy. */
  notSent = 0;
  /** If false, Odoo never answers, so calls wait for it. */
  isOdooUp = true;
  waitingForOdoo = 0;
  readonly loadShedder = new LoadShedder({
    nowMs: () => this.nowMs,
    atEndOfTurn: (callback) => this.#atEndOfTurn.push(callback),
    onRefused: (count) => {
      this.reportedRefusals += count;
    },
  });
  /** Sum of the counts that `onRefused` received. */
  reportedRefusals = 0;
  #atEndOfTurn: (() => void)[] = [];
  readonly #refusalMs: number;
  #freeConnections: number;
  /** Free connections on which a call was answered. They are used before new ones. */
  #usedConnections = 0;
  /** The requests that the process has not read yet. */
  #unread: { sentMs: number; isFirst: boolean }[] = [];
  #running: RunningCall[] = [];
  #dueCalls = 0;

  constructor(connections: number, { refusalMs = REFUSAL_MS } = {}) {
    this.#freeConnections = connections;
    this.#refusalMs = refusalMs;
  }

  get running(): number {
    return this.#running.length;
  }

  /** Sends calls at this rate, on free connections. */
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

  /** Sends one call at once. */
  send(): void {
    if (this.#freeConnections === 0) {
      this.notSent++;
      return;
    }
    this.#freeConnections--;
    const isFirst = this.#usedConnections === 0;
    if (!isFirst) this.#usedConnections--;
    this.#unread.push({ sentMs: this.nowMs, isFirst });
  }

  turn(): void {
    const beganMs = this.nowMs;
    for (const call of this.#running.splice(0)) this.#work(call);
    for (const request of this.#unread.splice(0)) this.#read(request);
    for (const callback of this.#atEndOfTurn.splice(0)) callback();
    // Without work, the loop pauses for a while.
    this.nowMs += this.nowMs > beganMs ? TURN_MS : 0.2;
  }

  #work(call: RunningCall): void {
    this.nowMs += CALL_MS / PIECES_PER_CALL;
    if (--call.leftPieces === 0) call.end();
    else if (call.leftPieces === PIECES_PER_CALL / 2 && !this.isOdooUp) this.waitingForOdoo++;
    else this.#running.push(call);
  }

  #read({ sentMs, isFirst }: { sentMs: number; isFirst: boolean }): void {
    this.nowMs += REQUEST_MS;
    const end = (list: RequestTimes[]) => {
      this.#freeConnections++;
      this.#usedConnections++;
      list.push({ sentMs, endedMs: this.nowMs });
    };
    this.loadShedder.submit({
      hasCallerLeft: false,
      isFirst,
      admit: () => {
        this.#running.push({ leftPieces: PIECES_PER_CALL, end: () => end(this.answered) });
      },
      refuse: () => {
        this.nowMs += this.#refusalMs;
        end(this.refused);
      },
    });
  }
}

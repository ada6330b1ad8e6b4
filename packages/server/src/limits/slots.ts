/** So many at once, by name: who finds no slot free is told so, or waits for one in the order of coming. */
import type { EndSignal } from '../egress/dispatcher.ts';

interface Row {
  taken: number;
  /** As it was said last: it holds for those who wait too. */
  max: number;
  waiting: Set<() => void>;
}

export class Slots {
  readonly #rows = new Map<string, Row>();
  readonly #waitingMax: number;

  /** `waitingMax`: how many may wait for the slots of one name. */
  constructor(waitingMax = 0) {
    this.#waitingMax = waitingMax;
  }

  /** Takes a slot if one of `max` is free. Each one taken must be freed. */
  tryTake(name: string, max: number): boolean {
    const row = this.#find(name, max);
    if (row.taken >= max) return false;
    row.taken++;
    return true;
  }

  /** Takes a slot, now or when one is free; false where too many wait, or the signal ends first. */
  take(name: string, max: number, signal: EndSignal): boolean | Promise<boolean> {
    if (this.tryTake(name, max)) return true;
    const { waiting } = this.#find(name, max);
    if (waiting.size >= this.#waitingMax || signal.aborted) return false;
    return new Promise((resolve) => {
      const giveUp = () => {
        waiting.delete(goOn);
        resolve(false);
      };
      const goOn = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      waiting.add(goOn);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Gives a slot back: to the one who waits for longest, if any. */
  free(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    row.taken--;
    letIn(row);
    if (row.taken === 0) this.#rows.delete(name);
  }

  #find(name: string, max: number): Row {
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = { taken: 0, max, waiting: new Set() };
      this.#rows.set(name, row);
    }
    row.max = max;
    letIn(row);
    return row;
  }
}

function letIn(row: Row): void {
  for (const goOn of row.waiting) {
    if (row.taken >= row.max) return;
    row.waiting.delete(goOn);
    row.taken++;
    goOn();
  }
}

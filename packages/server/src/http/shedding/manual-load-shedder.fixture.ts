/** A {@link LoadShedder} whose clock and turns a test drives by hand. */
import { LoadShedder } from './load-shedder.ts';

export class ManualLoadShedder {
  #nowMs = 0;
  #endOfTurn: (() => void)[] = [];
  readonly door = new LoadShedder({
    nowMs: () => this.#nowMs,
    atEndOfTurn: (callback) => this.#endOfTurn.push(callback),
    onRefused() {},
  });

  /** Whoever comes from now on waits, behind many that are nobody. */
  close(): void {
    while (this.#enter());
    this.#line();
    this.#endTurn();
  }

  /** Lets in whoever waits, and comes next. */
  open(): void {
    this.door.letAllIn();
    while (!this.#enter()) {
      this.door.letAllIn();
      this.#endTurn();
    }
  }

  /** After `close`: refuses whoever waits. Who comes next waits again. */
  refuse(): void {
    // Some may always wait: they are behind those who are to be refused.
    this.#line();
    this.#nowMs += 3000;
    this.#endTurn();
    this.#line();
  }

  #line(): void {
    for (let count = 0; count < 200; count++) this.#enter();
  }

  /** One that is nobody. True where it is let in at once. */
  #enter(): boolean {
    let isIn = false;
    const letIn = () => {
      isIn = true;
    };
    this.door.enter({ hasLeft: false, letIn, refuse() {} });
    return isIn;
  }

  #endTurn(): void {
    for (const callback of this.#endOfTurn.splice(0)) callback();
  }
}

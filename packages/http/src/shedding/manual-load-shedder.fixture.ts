/** A {@link LoadShedder} whose clock and event loop a test controls. */
import { LoadShedder } from './load-shedder.ts';

export class ManualLoadShedder {
  #nowMs = 0;
  #endOfTurn: (() => void)[] = [];
  readonly loadShedder = new LoadShedder({
    nowMs: () => this.#nowMs,
    atEndOfTurn: (callback) => this.#endOfTurn.push(callback),
    onRefused() {},
  });

  /** Makes all further requests wait, behind many placeholders. */
  hold(): void {
    while (this.#submitPlaceholder());
    this.#fillQueue();
    this.#endTurn();
  }

  /** Admits all waiting and all further requests. */
  release(): void {
    this.loadShedder.admitAll();
    while (!this.#submitPlaceholder()) {
      this.loadShedder.admitAll();
      this.#endTurn();
    }
  }

  /** Refuses the requests that wait since `hold`. Further requests wait. */
  refuseWaiting(): void {
    // Placeholders are queued last, because some requests may always wait: these should be placeholders.
    this.#fillQueue();
    // Longer than any burst may take. Many turns, because the load shedder counts periods.
    for (let turn = 0; turn < 30; turn++) {
      this.#nowMs += 500;
      this.#endTurn();
    }
    this.#fillQueue();
  }

  #fillQueue(): void {
    for (let count = 0; count < 200; count++) this.#submitPlaceholder();
  }

  /** Returns true if the placeholder was admitted at once. */
  #submitPlaceholder(): boolean {
    let isAdmitted = false;
    const admit = () => {
      isAdmitted = true;
    };
    this.loadShedder.submit({ hasCallerLeft: false, admit, refuse() {} });
    return isAdmitted;
  }

  #endTurn(): void {
    for (const callback of this.#endOfTurn.splice(0)) callback();
  }
}

/** Step: admits requests until a graceful stop begins. Keeps the set of running requests, which the stop waits for. */
import { IndexedSet } from '@erp-proxy/async/tasks';
import { Denial } from '../terms/denial.ts';
import type { Deadline } from '../terms/request-time.ts';

/** Seconds after which a caller may try again while this process is being replaced. */
const RETRY_AFTER_SECONDS = 1;

export class Admission {
  readonly #running = new IndexedSet<Deadline>();
  #isStopping = false;
  #onIdle: (() => void) | null = null;
  readonly #onStopping: (() => void)[] = [];

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Number of running requests. */
  get running(): number {
    return this.#running.size;
  }

  /** The listener is called when a graceful stop begins. */
  onStopping(listener: () => void): void {
    this.#onStopping.push(listener);
  }

  /** Admits a request, or returns the denial. Each admitted request must `leave`. */
  enter(deadline: Deadline): Denial | null {
    if (this.#isStopping) return denyStopping();
    this.#running.add(deadline);
    return null;
  }

  leave(deadline: Deadline): void {
    this.#running.delete(deadline);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  /** Admits no more requests. Ends those that still run after `graceMs`. Resolves when all have left. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const listener of this.#onStopping) listener();
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const deadline of this.#running.toArray()) {
          // The end of another request may have ended this one.
          if (deadline.index !== -1) deadline.end('shutdown');
        }
      }, graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The denial for a call that was not sent because the process is stopping. */
export function denyStopping(): Denial {
  return new Denial('overloaded', 'The proxy is shutting down; send the call again in a moment.', {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    headers: { connection: 'close' },
  });
}

/** Step: whether a request may start at all. Holds the set of running requests, which a graceful stop waits for. */
import type { Deadline } from '../terms/deadline.ts';
import { Denial } from '../terms/denial.ts';

/** Seconds after which a caller may try again while this process is being replaced. */
const RETRY_AFTER_SECONDS = 1;

/** The requests that are running, and whether new ones may start. */
export class Admission {
  readonly #running = new Set<Deadline>();
  #isStopping = false;
  #onIdle: (() => void) | null = null;

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Requests that are running now. */
  get running(): number {
    return this.#running.size;
  }

  /** Lets a request in, or says why not. Each one let in must `leave`. */
  enter(deadline: Deadline): Denial | null {
    if (this.#isStopping) return denyStopping();
    this.#running.add(deadline);
    return null;
  }

  leave(deadline: Deadline): void {
    this.#running.delete(deadline);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  /** Lets nobody in any more; resolves when all have left, which those still running after `graceMs` are made to. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const deadline of this.#running) deadline.end('shutdown');
      }, graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** For a call that was not sent because the process ends. */
export function denyStopping(): Denial {
  return new Denial('overloaded', 'The proxy is shutting down; send the call again in a moment.', {
    outcome: 'not_sent',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    headers: { connection: 'close' },
  });
}

/** For tests: requests `/healthz` again and again, each time on a new connection, and counts the answers. */
import { send } from '../harness.ts';

export interface HealthWatch {
  /** The number of answers so far. */
  readonly answers: number;
  /** Ends the watch. Rejects if a request failed. */
  stop(): Promise<void>;
}

export function watchHealth(url: string): HealthWatch {
  let isStopped = false;
  let answers = 0;
  const watching = (async () => {
    while (!isStopped) {
      await send(`${url}/healthz`);
      answers++;
    }
  })();
  return {
    get answers() {
      return answers;
    },
    async stop() {
      isStopped = true;
      await watching;
    },
  };
}

/** For tests: requests `/healthz` repeatedly, each time on a new connection, and measures the slowest answer. */
import { send } from '../harness.ts';

const PAUSE_MS = 20;

export interface HealthWatch {
  /** Ends the watch, and returns its results. */
  stop(): Promise<{ slowestMs: number; answers: number }>;
}

export function watchHealth(url: string): HealthWatch {
  let isStopped = false;
  let slowestMs = 0;
  let answers = 0;
  const watching = (async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      await send(`${url}/healthz`);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      answers++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await watching;
      return { slowestMs, answers };
    },
  };
}

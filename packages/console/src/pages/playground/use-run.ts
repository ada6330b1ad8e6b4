/** The state of the running call, or of the last one. */
import { useEffect, useRef, useState } from 'react';
import { type Answer, runCall, type SentCall } from './run-call.ts';

export type Run =
  | { state: 'none' }
  | { state: 'running' }
  | { state: 'cancelled' }
  | { state: 'failed'; error: Error }
  | { state: 'answered'; answer: Answer };

/** `send` resolves to the answer, or to null if the call was cancelled or the proxy did not run it. */
export function useRun() {
  const [run, setRun] = useState<Run>({ state: 'none' });
  const controller = useRef<AbortController>(null);

  useEffect(() => () => controller.current?.abort(), []);

  async function send(sent: SentCall): Promise<Answer | null> {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setRun({ state: 'running' });
    try {
      const answer = await runCall(sent, own.signal);
      setRun({ state: 'answered', answer });
      return answer;
    } catch (error) {
      if (controller.current !== own) return null;
      setRun(own.signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: error as Error });
      return null;
    }
  }

  return {
    run,
    send,
    cancel: () => controller.current?.abort(),
    clear: () => setRun({ state: 'none' }),
  };
}

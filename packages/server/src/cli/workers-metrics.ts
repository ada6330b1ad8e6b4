/**
 * Gives a scrape the same answer from every worker: the worker asks the primary, and the primary asks all workers. The
 * primary also prints the answer, in slices, so that the workers spend their time on calls. Knows the channel between
 * two processes, but not the meaning of the numbers.
 */

import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { type MetricsSnapshot, printCombined, snapshotWorkers } from '@erp-proxy/observe/metrics';

/** One end of the channel between the primary and a worker. */
interface Channel {
  send?(message: Message): unknown;
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

/** `metrics` is null if the process failed to read them. */
type Message = { question: number } | { answer: number; metrics: MetricsSnapshot | string | null };

/** Asks one worker for its metrics. */
export type AskWorker = () => Promise<MetricsSnapshot>;
/** Asks the primary for the text of a scrape. */
type AskPrimary = () => Promise<string>;

/** For the primary: answers the worker's questions with `printAll`. Returns a function that asks the worker. */
export function connectWorker(channel: Channel, printAll: AskPrimary): AskWorker {
  return connect<MetricsSnapshot>(channel, printAll, []);
}

/** For a worker: answers the primary's questions with `takeOwn`. Returns a function that asks the primary. */
export function connectPrimary(channel: Channel, takeOwn: AskWorker): AskPrimary {
  return connect<string>(channel, takeOwn, '');
}

/** `empty` stands in for the answer of a process that has ended. */
function connect<Answer extends MetricsSnapshot | string>(
  channel: Channel,
  collect: AskWorker | AskPrimary,
  empty: Answer,
): () => Promise<Answer> {
  const waiting = new Map<number, (metrics: Answer | null) => void>();
  let isConnected = true;
  let questions = 0;

  const settle = (question: number, metrics: Answer | null) => {
    waiting.get(question)?.(metrics);
    waiting.delete(question);
  };
  channel.on('message', async (message) => {
    if (!isMessage(message)) return;
    if ('answer' in message) return settle(message.answer, message.metrics as Answer | null);
    const metrics = await collect().catch(() => null);
    if (isConnected) channel.send?.({ answer: message.question, metrics });
  });
  channel.on('disconnect', () => {
    isConnected = false;
    for (const question of waiting.keys()) settle(question, empty);
  });

  return () =>
    new Promise((resolve, reject) => {
      if (!isConnected) return resolve(empty);
      waiting.set(++questions, (metrics) =>
        metrics === null ? reject(new Error('a process cannot tell its metrics')) : resolve(metrics),
      );
      channel.send?.({ question: questions });
    });
}

/** Half of the second within which a scrape must be answered, also while a worker hangs. */
const ANSWER_TIMEOUT_MS = 500;

/** Asks all workers concurrently. Those that do not answer in time are omitted, and counted as silent. */
export async function printWorkers(asks: readonly AskWorker[]): Promise<string> {
  const answers = await Promise.all(asks.map((ask) => askInTime(ask)));
  const answered = answers.filter((answer) => answer !== null);
  const workers = await snapshotWorkers({
    answering: answered.length,
    silent: answers.length - answered.length,
  });
  return printCombined([...answered, workers]);
}

/** Null if the worker does not answer in time. */
async function askInTime(ask: AskWorker): Promise<MetricsSnapshot | null> {
  const answer = await waitFor(ask(), { timeoutMs: ANSWER_TIMEOUT_MS });
  return answer === TIMED_OUT ? null : answer;
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && ('question' in message || 'answer' in message);
}

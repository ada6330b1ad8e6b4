/**
 * Gives a scrape the same answer from every worker: the worker asks the primary, and the primary asks all workers.
 * Knows the channel between two processes, but not the meaning of the numbers.
 */

import type { MetricsSnapshot } from '../observe/metrics.ts';
import { snapshotWorkers } from '../observe/worker-metrics.ts';
import { TIMED_OUT, waitFor } from '../streams/wait.ts';

/** One end of the channel between the primary and a worker. */
interface Channel {
  send?(message: Message): unknown;
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

type Message = { question: number } | { answer: number; snapshots: Snapshots | null };

type Snapshots = readonly MetricsSnapshot[];

/** Asks the process at the other end. The answer of an ended process is empty. */
export type AskForMetrics = () => Promise<Snapshots>;

/** Answers the other end with the result of `collect`. Returns a function that asks the other end. */
export function connectMetrics(channel: Channel, collect: AskForMetrics): AskForMetrics {
  const waiting = new Map<number, (snapshots: Snapshots | null) => void>();
  let isConnected = true;
  let questions = 0;

  const settle = (question: number, snapshots: Snapshots | null) => {
    waiting.get(question)?.(snapshots);
    waiting.delete(question);
  };
  channel.on('message', async (message) => {
    if (!isMessage(message)) return;
    if ('answer' in message) return settle(message.answer, message.snapshots);
    const snapshots = await collect().catch(() => null);
    if (isConnected) channel.send?.({ answer: message.question, snapshots });
  });
  channel.on('disconnect', () => {
    isConnected = false;
    for (const question of waiting.keys()) settle(question, []);
  });

  return () =>
    new Promise((resolve, reject) => {
      if (!isConnected) return resolve([]);
      waiting.set(++questions, (snapshots) =>
        snapshots === null ? reject(new Error('a process cannot tell its metrics')) : resolve(snapshots),
      );
      channel.send?.({ question: questions });
    });
}

/** A scrape must be answered within a second, also while a worker hangs. */
const ANSWER_TIMEOUT_MS = 500;

/** Asks all workers concurrently. Those that do not answer in time are omitted, and counted as silent. */
export async function askWorkers(asks: readonly AskForMetrics[]): Promise<Snapshots> {
  const answers = await Promise.all(asks.map((ask) => askInTime(ask)));
  const answered = answers.filter((answer) => answer !== null);
  const workers = await snapshotWorkers({
    answering: answered.length,
    silent: answers.length - answered.length,
  });
  return [...answered.flat(), workers];
}

/** Null if there is no answer in time. */
async function askInTime(ask: AskForMetrics): Promise<Snapshots | null> {
  const answer = await waitFor(ask(), { timeoutMs: ANSWER_TIMEOUT_MS });
  return answer === TIMED_OUT ? null : answer;
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && ('question' in message || 'answer' in message);
}

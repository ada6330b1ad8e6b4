/** Types of a scenario: its input are the shared processes, its output are tables. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HelperProcess } from './helper-process.ts';
import type { LoadJob, LoadResult } from './load.ts';
import type { UpstreamPorts } from './upstream.ts';

export interface Bench {
  isQuick: boolean;
  /** Folder for files of this run. */
  folder: string;
  upstream: HelperProcess;
  ports: UpstreamPorts;
  load: HelperProcess;
}

/** Whether a target of the benchmarks is met (docs/benchmarks.md#what-falls-short). */
export interface Finding {
  isReached: boolean;
  text: string;
}

export const QUESTIONS = {
  time: 'How much time does the proxy add to a call?',
  calls: 'How many calls a second does a core serve?',
  memory: 'How much memory does it need?',
  idle: 'What does it use while nobody calls?',
} as const;

/** One sentence of the answer to a question of users, for the beginning of the page. */
export interface Answer {
  question: keyof typeof QUESTIONS;
  text: string;
}

export interface Table {
  title: string;
  columns: string[];
  rows: string[][];
  /** Sentences below the table that explain its figures. */
  notes: string[];
  findings: Finding[];
  answers?: Answer[];
  /** Whether the page shows the table in its section on other proxies. */
  comparesPeers?: boolean;
}

export interface Scenario {
  name: string;
  run(bench: Bench): Promise<Table[]>;
}

/** Number of calls after which V8 has compiled the code that they use (`--trace-opt`). */
export const WARM_UP_CALLS = 24_000;

/** After this time, a program has done what its last calls left to the background, such as records of the audit. */
const BACKGROUND_MS = 500;

/** Runs a job, and waits until its work in the background is done: otherwise that would count for the next job. */
export async function askLoad(bench: Bench, job: LoadJob): Promise<LoadResult> {
  const result = (await bench.load.ask(job)) as LoadResult;
  await sleep(BACKGROUND_MS);
  return result;
}

/** Runs a job. A failed call ends the run, because the figures would be wrong. */
export async function runLoad(bench: Bench, job: LoadJob): Promise<LoadResult> {
  const result = await askLoad(bench, job);
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${job.calls} calls failed: ${result.firstFault}`);
  return result;
}

export function microseconds(rounds: readonly number[]): string {
  return printMedian(rounds, 0);
}

export function milliseconds(rounds: readonly number[], digits = 1): string {
  return printMedian(rounds, digits);
}

export function times(rounds: readonly number[]): string {
  return printMedian(rounds, 2);
}

export function printMedian(rounds: readonly number[], digits: number): string {
  const text = findMedian(rounds).toFixed(digits);
  // A value just below zero would be shown as -0.
  return Number(text) === 0 ? text.replace('-', '') : text;
}

export function printMebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

export function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Divides the value of each round by the value of the round that was run beside it. */
export function divideRounds(rounds: readonly number[], by: readonly number[]): number[] {
  return rounds.slice(0, by.length).map((value, index) => value / by[index]!);
}

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

/** A measured quantity. Tables show the median of its rounds, and `--save` keeps all of them. */
export interface Figure {
  unit: 'µs' | 'ms' | 's' | 'calls/s' | 'MiB' | 'times' | '%' | 'per s';
  rounds: readonly number[];
  /** Digits after the point. */
  digits: number;
  /** Whether it is the cost of a minimal program, which changes only with the machine. */
  isFloor?: boolean;
}

export type Cell = string | Figure;

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
  rows: Cell[][];
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

export function microseconds(rounds: readonly number[]): Figure {
  return { unit: 'µs', rounds, digits: 0 };
}

export function milliseconds(rounds: readonly number[], digits = 1): Figure {
  return { unit: 'ms', rounds, digits };
}

export function times(rounds: readonly number[]): Figure {
  return { unit: 'times', rounds, digits: 2 };
}

export function mebibytes(bytes: number): Figure {
  return { unit: 'MiB', rounds: [bytes / 2 ** 20], digits: 0 };
}

export function printCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  const text = findMedian(cell.rounds).toFixed(cell.digits);
  // A value just below zero.
  return Number(text) === 0 ? text.replace('-', '') : text;
}

export function printMebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

export function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The value below which this share of the values lies. */
export function findQuantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN;
}

/** Quotients of the rounds that were run one after the other. */
export function divideRounds(rounds: readonly number[], by: readonly number[]): number[] {
  return rounds.slice(0, by.length).map((value, index) => value / by[index]!);
}

/** Types of a scenario: its input are the shared processes, its output is a table. */
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

/** Whether a target of the benchmarks is met (docs/benchmarks.md#targets). */
export interface Finding {
  isReached: boolean;
  text: string;
}

export interface Table {
  title: string;
  columns: string[];
  rows: string[][];
  /** Sentences below the table that explain its figures. */
  notes: string[];
  findings: Finding[];
}

export interface Scenario {
  name: string;
  run(bench: Bench): Promise<Table[]>;
}

/** Runs a job. A failed call ends the run, because the figures would be wrong. */
export async function runLoad(bench: Bench, job: LoadJob): Promise<LoadResult> {
  const result = (await bench.load.ask(job)) as LoadResult;
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${job.calls} calls failed: ${result.firstFault}`);
  return result;
}

export function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function printMebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

/** Measures what a second worker process gains (docs/settings.md#workers), and what it gains for a minimal program. */
import { mkdtempSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { LoadResult } from '../load.ts';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  mebibytes,
  microseconds,
  runLoad,
  type Scenario,
  type Table,
  times,
} from '../scenario.ts';
import { type RunningSubject, startFloor } from '../subjects.ts';
import { SMALL_BYTES } from '../upstream.ts';

const GAIN_MIN = 1.8;
const CONNECTIONS = 32;
/**
 * Connections are opened a few at a time. Node's cluster gives most of those that arrive at once to the worker that
 * runs at that moment, and a worker with few calls is measured while its code is cold.
 */
const CONNECTIONS_AT_ONCE = 2;
/** For each worker: V8 compiles code by the calls of its process. */
const WARM_UP_CALLS = 24_000;
const CALLS = 8000;
/** Two workers, the upstream and the load generator. */
const CORES_NEEDED = 4;

interface Measured {
  name: string;
  workers: number;
  subject: RunningSubject;
  request: Buffer;
  cpuUs: number[];
  callsPerSecond: number[];
}

export const workers: Scenario = {
  name: 'workers',
  async run(bench) {
    const measured: Measured[] = [];
    try {
      for (const count of [1, 2] as const) measured.push(await startProxy(bench, count));
      for (const count of [1, 2] as const) measured.push(await startByHand(bench, count));
      for (const each of measured) await run(bench, each, bench.isQuick ? 400 : WARM_UP_CALLS * each.workers);
      for (let round = 0; round < (bench.isQuick ? 1 : 9); round++) {
        for (const { subject, cpuUs, callsPerSecond, ...each } of measured) {
          const calls = bench.isQuick ? 400 : CALLS;
          const beforeMs = readCpuMs(subject.pid);
          const { seconds } = await run(bench, { subject, ...each }, calls);
          cpuUs.push(((readCpuMs(subject.pid) - beforeMs) * 1000) / calls);
          callsPerSecond.push(calls / seconds);
        }
      }
      return [tabulate(measured)];
    } finally {
      for (const { subject } of measured) await subject.stop();
    }
  },
};

function tabulate(measured: Measured[]): Table {
  const [one, two, oneByHand, twoByHand] = measured as [Measured, Measured, Measured, Measured];
  const hasCores = cpus().length >= CORES_NEEDED;
  // If each worker has a core of its own, its calls a second are the inverse of the CPU time of a call.
  const findGains = (alone: Measured, both: Measured) =>
    hasCores
      ? divideRounds(both.callsPerSecond, alone.callsPerSecond)
      : divideRounds(alone.cpuUs, both.cpuUs).map((ratio) => 2 * ratio);
  const describe = (each: Measured, alone: Measured) => [
    each.name,
    microseconds(each.cpuUs),
    times(divideRounds(each.cpuUs, alone.cpuUs)),
    { unit: 'calls/s' as const, rounds: each.callsPerSecond, digits: 0 },
    each === alone ? '' : times(findGains(alone, each)),
    mebibytes(readPeakBytes(each.subject.pid)),
  ];
  const gain = findMedian(findGains(one, two));
  const gainByHand = findMedian(findGains(oneByHand, twoByHand));
  return {
    title: 'Workers',
    columns: ['', 'CPU µs/call', 'of one worker', 'calls/s', 'gain', 'peak MiB'],
    rows: [
      describe(one, one),
      describe(two, one),
      describe(oneByHand, oneByHand),
      describe(twoByHand, oneByHand),
    ],
    notes: [
      'CPU time and memory are those of all processes of a program.',
      hasCores
        ? 'The gain is the quotient of the calls per second.'
        : `The gain is computed from the CPU time of a call, as if each worker had a core of its own: this machine has fewer than ${CORES_NEEDED} cores, so the calls per second show no gain.`,
    ],
    findings: [
      {
        isReached: gain >= GAIN_MIN,
        text: `two workers bear at least ${GAIN_MIN} times the calls of one, by ${hasCores ? 'calls per second' : 'CPU time per call'} (${gain.toFixed(2)} times; by hand ${gainByHand.toFixed(2)})`,
      },
    ],
    answers: [
      {
        question: 'calls',
        text: `Two workers bear ${gain.toFixed(1)} times the calls of one (setting \`workers\`).`,
      },
    ],
  };
}

async function startProxy(bench: Bench, count: 1 | 2): Promise<Measured> {
  const folder = mkdtempSync(join(bench.folder, 'workers-'));
  const key = await createKey(folder);
  const program = await startProgram(folder, { workers: String(count) });
  return describeSubject(bench, 'erp-proxy', count, { ...program, key });
}

async function startByHand(bench: Bench, count: 1 | 2): Promise<Measured> {
  const subject = await startFloor(count, bench.ports.small.keep, bench.folder);
  return describeSubject(bench, 'by hand', count, subject);
}

function describeSubject(bench: Bench, program: string, workers: 1 | 2, subject: RunningSubject): Measured {
  const name = `${program}, ${workers === 1 ? 'one worker' : 'two workers'}`;
  const request = buildExecuteRequest(subject.key ?? 'none', bench.ports.small.keep);
  return { name, workers, subject, request, cpuUs: [], callsPerSecond: [] };
}

function run(
  bench: Bench,
  { subject, request }: Pick<Measured, 'subject' | 'request'>,
  calls: number,
): Promise<LoadResult> {
  return runLoad(bench, {
    port: subject.port,
    requests: [request],
    connections: CONNECTIONS,
    connectionsAtOnce: CONNECTIONS_AT_ONCE,
    calls,
    bodyBytesMin: SMALL_BYTES - 20,
  });
}

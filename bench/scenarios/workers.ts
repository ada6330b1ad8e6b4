/**
 * Measures what a second worker process gains (docs/settings.md#workers), and what it gains for a minimal program. Two
 * proxies that share nothing show how much of the loss comes from the machine: two processes share its caches.
 */
import { mkdtempSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { LoadTarget } from '../load.ts';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  microseconds,
  printMebibytes,
  printMedian,
  runLoad,
  type Scenario,
  type Table,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { type RunningSubject, startFloor } from '../subjects.ts';
import { SMALL_BYTES } from '../upstream.ts';

const GAIN_MIN = 1.8;
const CONNECTIONS = 32;
/**
 * Connections are opened a few at a time. Node's cluster gives most connections that arrive at once to the worker that
 * runs at that moment, and a worker with few calls is measured while its code is cold.
 */
const CONNECTIONS_AT_ONCE = 2;
const CALLS = 4000;
const ROUNDS = 21;
/** Two workers, the upstream and the load generator. */
const CORES_NEEDED = 4;

interface Measured {
  name: string;
  /** Worker processes in all. */
  workers: number;
  /** Programs over which the calls are spread. */
  programs: { subject: RunningSubject; request: Buffer }[];
  cpuUs: number[];
  callsPerSecond: number[];
}

export const workers: Scenario = {
  name: 'workers',
  async run(bench) {
    const measured: Measured[] = [];
    try {
      const add = (name: string, workers: 1 | 2) => {
        const each: Measured = { name, workers, programs: [], cpuUs: [], callsPerSecond: [] };
        measured.push(each);
        return each.programs;
      };
      for (const workers of [1, 2] as const)
        add(`erp-proxy, ${nameWorkers(workers)}`, workers).push(await startProxy(bench, workers));
      const separate = add('erp-proxy, two separate programs', 2);
      for (let count = 0; count < 2; count++) separate.push(await startProxy(bench, 1));
      for (const workers of [1, 2] as const)
        add(`by hand, ${nameWorkers(workers)}`, workers).push(await startByHand(bench, workers));
      for (const each of measured) await run(bench, each, bench.isQuick ? 400 : WARM_UP_CALLS * each.workers);
      for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++) {
        for (const each of measured) {
          const calls = bench.isQuick ? 400 : CALLS;
          const beforeMs = readAllCpuMs(each);
          const seconds = await run(bench, each, calls);
          each.cpuUs.push(((readAllCpuMs(each) - beforeMs) * 1000) / calls);
          each.callsPerSecond.push(calls / seconds);
        }
      }
      return [tabulate(measured)];
    } finally {
      for (const { programs } of measured) for (const { subject } of programs) await subject.stop();
    }
  },
};

function tabulate(measured: Measured[]): Table {
  const [one, two, separate, oneByHand, twoByHand] = measured as [
    Measured,
    Measured,
    Measured,
    Measured,
    Measured,
  ];
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
    printMedian(each.callsPerSecond, 0),
    each === alone ? '' : times(findGains(alone, each)),
    printMebibytes(each.programs.reduce((bytes, { subject }) => bytes + readPeakBytes(subject.pid), 0)),
  ];
  const gain = findMedian(findGains(one, two));
  const gainSeparate = findMedian(findGains(one, separate));
  const gainByHand = findMedian(findGains(oneByHand, twoByHand));
  return {
    title: 'Workers',
    columns: ['', 'CPU µs/call', 'of one worker', 'calls/s', 'gain', 'peak MiB'],
    rows: [
      describe(one, one),
      describe(two, one),
      describe(separate, one),
      describe(oneByHand, oneByHand),
      describe(twoByHand, oneByHand),
    ],
    notes: [
      'CPU time and memory are those of all processes of a program. The two separate programs have half of the connections each and nothing in common: what they lose against one worker is due to the machine.',
      hasCores
        ? 'The gain is the quotient of the calls per second.'
        : `The gain is computed from the CPU time of a call, as if each worker had a core of its own: this machine has fewer than ${CORES_NEEDED} cores, so the calls per second show no gain.`,
    ],
    findings: [
      {
        isReached: gain >= GAIN_MIN,
        text: `two workers serve at least ${GAIN_MIN} times the calls of one, by ${hasCores ? 'calls per second' : 'CPU time per call'} (${gain.toFixed(2)} times; two separate programs ${gainSeparate.toFixed(2)}, by hand ${gainByHand.toFixed(2)})`,
      },
    ],
    answers: [
      {
        question: 'calls',
        text: `Two workers serve ${gain.toFixed(1)} times the calls of one (setting \`workers\`).`,
      },
    ],
  };
}

type StartedProgram = Measured['programs'][number];

async function startProxy(bench: Bench, workers: 1 | 2): Promise<StartedProgram> {
  const folder = mkdtempSync(join(bench.folder, 'workers-'));
  const key = await createKey(folder);
  const program = await startProgram(folder, { workers: String(workers) });
  return addRequest(bench, { ...program, key });
}

async function startByHand(bench: Bench, workers: 1 | 2): Promise<StartedProgram> {
  return addRequest(bench, await startFloor(workers, bench.ports.small.keep, bench.folder));
}

function addRequest(bench: Bench, subject: RunningSubject): StartedProgram {
  return { subject, request: buildExecuteRequest(subject.key ?? 'none', bench.ports.small.keep) };
}

function nameWorkers(workers: 1 | 2): string {
  return workers === 1 ? 'one worker' : 'two workers';
}

function readAllCpuMs({ programs }: Measured): number {
  return programs.reduce((ms, { subject }) => ms + readCpuMs(subject.pid), 0);
}

async function run(bench: Bench, { programs }: Measured, calls: number): Promise<number> {
  const [first, ...others] = programs.map(({ subject, request }) => ({
    port: subject.port,
    requests: [request],
  }));
  const { seconds } = await runLoad(bench, {
    ...(first as LoadTarget),
    others,
    connections: CONNECTIONS,
    connectionsAtOnce: CONNECTIONS_AT_ONCE,
    calls,
    bodyBytesMin: SMALL_BYTES - 20,
  });
  return seconds;
}

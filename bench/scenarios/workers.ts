/** Measures what a second worker process gains (docs/settings.md#workers). */
import { mkdtempSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest, createKey, type Program, startProgram } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  mebibytes,
  microseconds,
  runLoad,
  type Scenario,
  times,
} from '../scenario.ts';
import { SMALL_BYTES } from '../upstream.ts';

const GAIN_MIN = 1.8;
const CONNECTIONS = 32;
const WARM_UP_CALLS = 24_000;
/** Two workers, the upstream and the load generator. */
const CORES_NEEDED = 4;

interface Measured {
  name: string;
  program: Program;
  request: Buffer;
  cpuUs: number[];
  callsPerSecond: number[];
}

export const workers: Scenario = {
  name: 'workers',
  async run(bench) {
    const one = await start(bench, 'one worker', 1);
    const two = await start(bench, 'two workers', 2);
    try {
      for (const subject of [one, two]) await run(bench, subject, bench.isQuick ? 400 : WARM_UP_CALLS);
      for (let round = 0; round < (bench.isQuick ? 1 : 9); round++) {
        for (const subject of [one, two]) {
          const calls = bench.isQuick ? 400 : 4000;
          const beforeMs = readCpuMs(subject.program.pid);
          const { seconds } = await run(bench, subject, calls);
          subject.cpuUs.push(((readCpuMs(subject.program.pid) - beforeMs) * 1000) / calls);
          subject.callsPerSecond.push(calls / seconds);
        }
      }
      const hasCores = cpus().length >= CORES_NEEDED;
      // If each worker has a core of its own, its calls a second are the inverse of the CPU time of a call.
      const gains = hasCores
        ? divideRounds(two.callsPerSecond, one.callsPerSecond)
        : divideRounds(one.cpuUs, two.cpuUs).map((ratio) => 2 * ratio);
      const gain = findMedian(gains);
      return [
        {
          title: 'Workers',
          columns: ['', 'CPU µs/call', 'of one worker', 'calls/s', 'gain', 'peak MiB'],
          rows: [one, two].map((subject) => [
            subject.name,
            microseconds(subject.cpuUs),
            times(divideRounds(subject.cpuUs, one.cpuUs)),
            { unit: 'calls/s', rounds: subject.callsPerSecond, digits: 0 },
            subject === one ? '' : times(gains),
            mebibytes(readPeakBytes(subject.program.pid)),
          ]),
          notes: [
            'CPU time and memory are those of all processes of the proxy.',
            hasCores
              ? 'The gain is the quotient of the calls per second.'
              : `The gain is computed from the CPU time of a call, as if each worker had a core of its own: this machine has fewer than ${CORES_NEEDED} cores, so the calls per second show no gain.`,
          ],
          findings: [
            {
              isReached: gain >= GAIN_MIN,
              text: `two workers bear at least ${GAIN_MIN} times the calls of one, by ${hasCores ? 'calls per second' : 'CPU time per call'} (${gain.toFixed(2)} times)`,
            },
          ],
          answers: [
            {
              question: 'calls',
              text: `Two workers bear ${gain.toFixed(1)} times the calls of one (setting \`workers\`).`,
            },
          ],
        },
      ];
    } finally {
      await one.program.stop();
      await two.program.stop();
    }
  },
};

async function start(bench: Bench, name: string, count: number): Promise<Measured> {
  const folder = mkdtempSync(join(bench.folder, 'workers-'));
  const key = await createKey(folder);
  const program = await startProgram(folder, { workers: String(count) });
  const request = buildExecuteRequest(key, bench.ports.small.keep);
  return { name, program, request, cpuUs: [], callsPerSecond: [] };
}

function run(bench: Bench, { program, request }: Measured, calls: number) {
  return runLoad(bench, {
    port: program.port,
    requests: [request],
    connections: CONNECTIONS,
    calls,
    bodyBytesMin: SMALL_BYTES - 20,
  });
}

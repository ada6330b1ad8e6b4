/** Measures CPU time, calls per second and latencies of all subjects, in alternating rounds on one upstream. */
import type { LoadJob } from '../load.ts';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest } from '../program.ts';
import {
  type Bench,
  type Finding,
  findMedian,
  printMebibytes,
  runLoad,
  type Scenario,
  type Table,
} from '../scenario.ts';
import { FLOORS, listSubjects, PROXY, type RunningSubject } from '../subjects.ts';
import { type ConnectionMode, LARGE_BYTES, SMALL_BYTES } from '../upstream.ts';

const CONNECTIONS = 16;
/** Number of calls after which V8 has compiled the code that they use. */
const WARM_UP_CALLS = 12_000;

interface Measured {
  name: string;
  subject: RunningSubject;
  rounds: { cpuUs: number; callsPerSecond: number; p50Us: number; p99Us: number }[];
}

export const speed: Scenario = {
  name: 'speed',
  async run(bench) {
    const tables: Table[] = [];
    for (const size of ['small', 'large'] as const) {
      for (const mode of ['keep', 'close'] as const) tables.push(await compare(bench, size, mode));
    }
    return tables;
  },
};

async function compare(bench: Bench, size: 'small' | 'large', mode: ConnectionMode): Promise<Table> {
  const upstreamPort = bench.ports[size][mode];
  const bodyBytes = size === 'small' ? SMALL_BYTES : LARGE_BYTES;
  const measured: Measured[] = [];
  try {
    for (const { name, modes, start } of listSubjects()) {
      if (modes.includes(mode)) {
        measured.push({ name, subject: await start(upstreamPort, bench.folder), rounds: [] });
      }
    }
    // The envelope that the proxy writes around the result is shorter than Odoo's.
    const job = { connections: CONNECTIONS, bodyBytesMin: bodyBytes - 20 };
    const calls = bench.isQuick ? 400 : size === 'small' ? 3000 : 1500;
    for (const { subject } of measured) {
      await runLoad(bench, {
        ...job,
        ...describe(subject, upstreamPort),
        calls: bench.isQuick ? 200 : WARM_UP_CALLS,
      });
    }
    for (let round = 0; round < (bench.isQuick ? 1 : 7); round++) {
      // The subjects take turns, so that other load on the machine affects all of them.
      for (const { subject, rounds } of measured) {
        const cpuBeforeMs = readCpuMs(subject.pid);
        const { seconds, p50Us, p99Us } = await runLoad(bench, {
          ...job,
          ...describe(subject, upstreamPort),
          calls,
        });
        const cpuUs = ((readCpuMs(subject.pid) - cpuBeforeMs) * 1000) / calls;
        rounds.push({ cpuUs, callsPerSecond: calls / seconds, p50Us, p99Us });
      }
    }
    return tabulate(measured, mode, bodyBytes);
  } finally {
    for (const { subject } of measured) await subject.stop();
  }
}

function describe({ port, key }: RunningSubject, upstreamPort: number): Pick<LoadJob, 'port' | 'requests'> {
  return { port, requests: [buildExecuteRequest(key ?? 'none', upstreamPort)] };
}

function tabulate(measured: Measured[], mode: ConnectionMode, bodyBytes: number): Table {
  const lines = measured.map(({ name, subject, rounds }) => ({
    name,
    cpuUs: findMedian(rounds.map((round) => round.cpuUs)),
    callsPerSecond: findMedian(rounds.map((round) => round.callsPerSecond)),
    p50Us: findMedian(rounds.map((round) => round.p50Us)),
    p99Us: findMedian(rounds.map((round) => round.p99Us)),
    peakBytes: readPeakBytes(subject.pid),
  }));
  const cpuOf = (name: string) => lines.find((line) => line.name === name)?.cpuUs ?? Number.NaN;
  const floorUs = cpuOf(FLOORS[mode]);
  return {
    title: `Answers of ${bodyBytes.toLocaleString('en')} bytes, upstream ${mode === 'keep' ? 'keeps' : 'closes'} connections`,
    columns: ['', 'CPU µs/call', 'of the floor', 'calls/s', 'p50 ms', 'p99 ms', 'peak MiB'],
    rows: lines
      .toSorted((a, b) => a.cpuUs - b.cpuUs)
      .map((line) => [
        line.name,
        line.cpuUs.toFixed(0),
        (line.cpuUs / floorUs).toFixed(2),
        line.callsPerSecond.toFixed(0),
        (line.p50Us / 1000).toFixed(1),
        (line.p99Us / 1000).toFixed(1),
        printMebibytes(line.peakBytes),
      ]),
    notes: [],
    findings: bodyBytes === SMALL_BYTES ? judge(mode, cpuOf) : [],
  };
}

function judge(mode: ConnectionMode, cpuOf: (name: string) => number): Finding[] {
  const where = mode === 'keep' ? 'upstream keeps connections' : 'upstream closes connections';
  const compareTo = (name: string, share: number, what: string): Finding => ({
    isReached: cpuOf(PROXY) <= cpuOf(name) * share,
    text: `CPU time, ${where}: ${what} (${(cpuOf(PROXY) / cpuOf(name)).toFixed(2)} times ${name})`,
  });
  const peers = ['@fastify/http-proxy', 'http-proxy'].map((name) => compareTo(name, 1, `less than ${name}`));
  const floor = compareTo(FLOORS[mode], 1.2, 'at most 1.2 times the floor');
  if (mode === 'close') return [compareTo(FLOORS.keep, 1, 'at most undici by hand'), floor, ...peers];
  return Number.isNaN(cpuOf('Caddy'))
    ? [floor, ...peers]
    : [floor, compareTo('Caddy', 1, 'less than Caddy'), ...peers];
}

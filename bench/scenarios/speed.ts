/** Measures CPU time, calls per second and latencies of all subjects, in alternating rounds on one upstream. */
import type { LoadJob, LoadResult } from '../load.ts';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest } from '../program.ts';
import {
  askLoad,
  type Bench,
  divideRounds,
  type Finding,
  findMedian,
  microseconds,
  milliseconds,
  printMebibytes,
  printMedian,
  runLoad,
  type Scenario,
  type Table,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { FLOORS, listServers, listSubjects, PROXY, type RunningSubject } from '../subjects.ts';
import { type ConnectionMode, LARGE_BYTES, SMALL_BYTES } from '../upstream.ts';

const CONNECTIONS = 16;
/** Share of the calls through a server that may fail, before the run ends. */
const FAILED_SHARE_MAX = 0.002;
const NODE_PEERS = ['@fastify/http-proxy', 'http-proxy'];

/** Results of servers that are rarely installed, as multiples of the minimal program's, in the order of the columns. */
const EARLIER = {
  date: '2026-11-22',
  note: 'Rows with a date are ratios of an earlier run, because these servers are not installed here: 2 cores (AMD EPYC), 24 GiB, linux, Node 24.21.0. Both sides of each ratio are from that run. Rounds were shorter than those of a full run, and other programs ran on the machine.',
  rows: [
    ['nginx (one worker)', '0.35', '0.24', '0.52', '0.40'],
    ['HAProxy (one thread)', '0.38', '0.22', '0.39', '0.22'],
    ['Caddy', '1.49', '1.57', '1.24', '0.81'],
  ],
};

type Size = 'small' | 'large';

interface Measured {
  name: string;
  subject: RunningSubject;
  failed: number;
  rounds: { cpuUs: number; callsPerSecond: number; p50Us: number; p99Us: number }[];
}

interface Line {
  name: string;
  cpuUs: number[];
  ofFloor: number[];
  callsPerSecond: number[];
  p50Us: number[];
  p99Us: number[];
  peakBytes: number;
  failed: number;
}

interface Comparison {
  size: Size;
  mode: ConnectionMode;
  lines: Line[];
}

export const speed: Scenario = {
  name: 'speed',
  async run(bench) {
    const comparisons: Comparison[] = [];
    for (const size of ['small', 'large'] as const) {
      for (const mode of ['close', 'keep'] as const) {
        comparisons.push({ size, mode, lines: await compare(bench, size, mode) });
      }
    }
    return [summarize(comparisons), ...comparisons.map(tabulate)];
  },
};

async function compare(bench: Bench, size: Size, mode: ConnectionMode): Promise<Line[]> {
  const upstreamPort = bench.ports[size][mode];
  const measured: Measured[] = [];
  try {
    for (const { name, modes, start } of listSubjects()) {
      if (modes.includes(mode)) {
        measured.push({ name, subject: await start(upstreamPort, bench.folder), failed: 0, rounds: [] });
      }
    }
    // The envelope that the proxy writes around the result is shorter than Odoo's.
    const job = { connections: CONNECTIONS, bodyBytesMin: countBytes(size) - 20 };
    const calls = bench.isQuick ? 400 : size === 'small' ? 3000 : 1500;
    const run = (each: Measured, count: number) =>
      runOn(bench, each, { ...job, ...describe(each.subject, upstreamPort), calls: count });
    for (const each of measured) await run(each, bench.isQuick ? 200 : WARM_UP_CALLS);
    for (let round = 0; round < (bench.isQuick ? 1 : 7); round++) {
      // The subjects take turns, so that other load on the machine affects all of them.
      for (const each of measured) {
        const cpuBeforeMs = readCpuMs(each.subject.pid);
        const { seconds, p50Us, p99Us } = await run(each, calls);
        const cpuUs = ((readCpuMs(each.subject.pid) - cpuBeforeMs) * 1000) / calls;
        each.rounds.push({ cpuUs, callsPerSecond: calls / seconds, p50Us, p99Us });
      }
    }
    return listLines(measured, mode);
  } finally {
    for (const { subject } of measured) await subject.stop();
  }
}

/** A server may break off a few answers, as Caddy does with large ones. The page reports them. */
async function runOn(bench: Bench, measured: Measured, job: LoadJob): Promise<LoadResult> {
  if (!listServers().includes(measured.name)) return runLoad(bench, job);
  const result = await askLoad(bench, job);
  measured.failed += result.failed;
  if (result.failed > Math.max(10, job.calls * FAILED_SHARE_MAX)) {
    throw new Error(`${measured.name}: ${result.failed} of ${job.calls} calls failed: ${result.firstFault}`);
  }
  return result;
}

function describe({ port, key }: RunningSubject, upstreamPort: number): Pick<LoadJob, 'port' | 'requests'> {
  return { port, requests: [buildExecuteRequest(key ?? 'none', upstreamPort)] };
}

function listLines(measured: Measured[], mode: ConnectionMode): Line[] {
  const floorUs = measured.find(({ name }) => name === FLOORS[mode])?.rounds.map(({ cpuUs }) => cpuUs) ?? [];
  return measured
    .map(({ name, subject, failed, rounds }) => {
      const cpuUs = rounds.map((round) => round.cpuUs);
      return {
        name,
        cpuUs,
        ofFloor: divideRounds(cpuUs, floorUs),
        callsPerSecond: rounds.map((round) => round.callsPerSecond),
        p50Us: rounds.map((round) => round.p50Us),
        p99Us: rounds.map((round) => round.p99Us),
        peakBytes: readPeakBytes(subject.pid),
        failed,
      };
    })
    .toSorted((a, b) => findMedian(a.cpuUs) - findMedian(b.cpuUs));
}

function tabulate({ size, mode, lines }: Comparison): Table {
  return {
    title: `Answers of ${countBytes(size).toLocaleString('en')} bytes, ${describeMode(mode)}`,
    columns: ['', 'CPU µs/call', 'of the floor', 'calls/s', 'p50 ms', 'p99 ms', 'peak MiB'],
    rows: lines.map((line) => [
      line.name,
      microseconds(line.cpuUs),
      times(line.ofFloor),
      printMedian(line.callsPerSecond, 0),
      milliseconds(line.p50Us.map((us) => us / 1000)),
      milliseconds(line.p99Us.map((us) => us / 1000)),
      printMebibytes(line.peakBytes),
    ]),
    notes: lines
      .filter(({ failed }) => failed > 0)
      .map(({ name, failed }) => `${name} broke off ${failed} answers.`),
    findings: check(size, mode, lines),
  };
}

/** One row for each subject, one column for each comparison. */
function summarize(comparisons: Comparison[]): Table {
  const subjects = [...new Set(comparisons.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  const measuredRows = subjects.map((subject): string[] => [
    subject,
    ...comparisons.map(({ lines }): string => {
      const line = lines.find(({ name }) => name === subject);
      return line === undefined ? '' : times(line.ofFloor);
    }),
  ]);
  const earlierRows = EARLIER.rows.filter(([name]) => !subjects.includes(name!));
  const datedRows = earlierRows.map(([name, ...ratios]) => [`${name}, on ${EARLIER.date}`, ...ratios]);
  return {
    title: 'CPU time of a call, as a multiple of the floor',
    columns: [
      '',
      ...comparisons.map(({ size, mode }) => `${size === 'small' ? '300 B' : '100 kB'}, ${mode}`),
    ],
    rows: [...measuredRows, ...datedRows].toSorted((a, b) => Number(a[1]) - Number(b[1])),
    notes: [
      'Columns: size of the answer, and whether the upstream closes each connection, like Odoo, or keeps them.',
      ...(datedRows.length === 0 ? [] : [EARLIER.note]),
    ],
    findings: [],
    answers: [
      ...comparisons.map(({ size, mode, lines }) => {
        const cpuUs = findMedian(lines.find(({ name }) => name === PROXY)?.cpuUs ?? []);
        return {
          question: 'calls' as const,
          text: `About ${roundCalls(1e6 / cpuUs)} with answers of ${countBytes(size).toLocaleString('en')} bytes, ${describeMode(mode)} (${cpuUs.toFixed(0)} µs of processor time a call).`,
        };
      }),
      {
        question: 'memory',
        text: `At most ${printMebibytes(Math.max(...comparisons.map(({ lines }) => lines.find(({ name }) => name === PROXY)?.peakBytes ?? 0)))} MiB at full load on ${CONNECTIONS} connections.`,
      },
    ],
    comparesPeers: true,
  };
}

function check(size: Size, mode: ConnectionMode, lines: Line[]): Finding[] {
  const find = (name: string) => lines.find((line) => line.name === name)?.cpuUs ?? [];
  const where = `CPU time, ${countBytes(size).toLocaleString('en')} bytes, ${describeMode(mode)}`;
  const compareTo = (name: string, share: number, target: string): Finding => {
    const ratio = findMedian(divideRounds(find(PROXY), find(name)));
    return { isReached: ratio <= share, text: `${where}: ${target} (${ratio.toFixed(2)} times)` };
  };
  const floor = FLOORS[mode];
  if (size === 'large') return [compareTo(floor, 1.5, 'at most 1.5 times the floor')];
  const peers = NODE_PEERS.map((name) => compareTo(name, 1, `less than ${name}`));
  return mode === 'keep'
    ? [compareTo(floor, 2, 'at most 2.0 times the floor'), ...peers]
    : [
        compareTo(floor, 1.6, 'at most 1.6 times the floor'),
        compareTo(FLOORS.keep, 1, 'less than undici by hand'),
        ...peers,
      ];
}

function describeMode(mode: ConnectionMode): string {
  return mode === 'keep' ? 'upstream keeps connections' : 'upstream closes connections';
}

function countBytes(size: Size): number {
  return size === 'small' ? SMALL_BYTES : LARGE_BYTES;
}

/** Two significant digits: more would not be the same in the next run. */
function roundCalls(callsPerSecond: number): string {
  return Number(callsPerSecond.toPrecision(2)).toLocaleString('en');
}

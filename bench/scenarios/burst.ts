/**
 * Measures 10,000 connections with one call each, opened at once to a process that started a second ago. The upstream
 * holds every answer until all calls have arrived. In the middle of it, calls go to another server.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HelperProcess, startHelper } from '../helper-process.ts';
import type { LoadJob, LoadResult } from '../load.ts';
import { readCpuMs, readOpenFilesMax, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import { type Bench, findMedian, printMedian, type Scenario, type Table } from '../scenario.ts';
import { FLOORS, listSubjects, PROXY, type Subject } from '../subjects.ts';
import { SMALL_BYTES } from '../upstream.ts';

const CALLS_WANTED = 10_000;
const ROUNDS = 2;
/** Files that the process opens in addition to two sockets for each call. */
const OTHER_FILES = 60;
const AGE_MS = 1000;
/** If no call arrives for this time after the first one, the remaining calls were refused. */
const SILENCE_MS = 3000;
/** Targets: the time of the last answer as a multiple of the minimal program's, and peak memory. */
const FLOOR_FACTOR_MAX = 2;
const PEAK_MEBIBYTES_MAX = 600;

/** A call goes to another server once these parts of the burst have arrived at the upstream. */
const OTHER_AFTER = [0.1, 0.5];

interface Burst {
  calls: number;
  failed: number;
  firstFault: string | null;
  /** Time from the start of the burst until half of it had arrived at the upstream. */
  halfSentMs: number;
  medianMs: number;
  lastMs: number;
  /** The longest time of a call to another server; 0 if there was none. */
  otherMs: number;
  cpuUs: number;
  peakBytes: number;
}

export const burst: Scenario = {
  name: 'burst',
  async run(bench) {
    const other = await startHelper(new URL('../load.ts', import.meta.url));
    try {
      return [await measureHeld(bench, other), await measureDefaults(bench, other)];
    } finally {
      await other.stop();
    }
  },
};

async function measureHeld(bench: Bench, other: HelperProcess): Promise<Table> {
  const proxies: Burst[] = [];
  const floors: Burst[] = [];
  for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++) {
    floors.push(await runFloor(bench));
    // All calls go to one database, so its concurrency limit must allow them. The upstream would also hold the request
    // for the version, so the protocol is fixed.
    const settings = {
      'upstream.concurrency': String(CALLS_WANTED),
      'upstream.concurrencyMin': String(CALLS_WANTED),
      'upstream.protocol': 'jsonrpc',
    };
    proxies.push(await runProxy(bench, settings, bench.ports.held, other));
  }
  const { calls } = proxies[0] as Burst;
  const failed = Math.max(...proxies.map((one) => one.failed));
  const peakMebibytes = Math.max(...proxies.map((one) => one.peakBytes)) / 2 ** 20;
  const factor = findMedianOf(proxies, (one) => one.lastMs) / findMedianOf(floors, (one) => one.lastMs);
  const otherMs = Math.max(...proxies.map((one) => one.otherMs));
  const medianMs = findMedianOf(proxies, (one) => one.medianMs);
  const [firstFault] = proxies.flatMap((one) => one.firstFault ?? []);
  return {
    title: 'A burst of calls at a process that started a second ago',
    columns: COLUMNS,
    rows: [printRow(FLOORS.close, floors), printRow(PROXY, proxies)],
    notes: [
      `Rounds: ${proxies.length}. All connections are opened at once, each with one call. The upstream holds its answers until all calls have arrived. "Half sent" is the time until half of the calls had arrived there.`,
      '`upstream.concurrency` was 10000, because all calls go to one database, and `upstream.protocol` was `jsonrpc`. A call to another server is sent after a tenth and after half of the burst; the longest of them is shown.',
      ...(firstFault === undefined ? [] : [`The first error: ${firstFault}`]),
      ...(calls < CALLS_WANTED && !bench.isQuick
        ? [`This machine allows a process to open sockets for only ${calls} calls.`]
        : []),
    ],
    findings: bench.isQuick
      ? []
      : [
          {
            isReached: failed === 0 && calls === CALLS_WANTED,
            text: `none of 10,000 calls at once is refused (${failed} of ${calls})`,
          },
          {
            isReached: factor <= FLOOR_FACTOR_MAX,
            text: `the last answer of the burst takes at most ${FLOOR_FACTOR_MAX} times the floor's (${factor.toFixed(2)} times)`,
          },
          {
            isReached: peakMebibytes <= PEAK_MEBIBYTES_MAX,
            text: `a burst takes at most ${PEAK_MEBIBYTES_MAX} MiB (${peakMebibytes.toFixed(0)})`,
          },
          {
            isReached: otherMs <= medianMs,
            text: `a call to another server in the middle of a burst waits no longer than the burst's median (${otherMs.toFixed(0)} of ${medianMs.toFixed(0)} ms)`,
          },
        ],
  };
}

/**
 * Measures the burst with default settings and an upstream that answers at once: the database's limiter has a queue.
 */
async function measureDefaults(bench: Bench, other: HelperProcess): Promise<Table> {
  const result = await runProxy(bench, {}, bench.ports.small.close, other);
  return {
    title: 'The same burst with default settings, and an upstream that answers at once',
    columns: COLUMNS,
    rows: [printRow(PROXY, [result])],
    notes: result.firstFault === null ? [] : [`The first error: ${result.firstFault}`],
    findings: [],
  };
}

const COLUMNS = [
  '',
  'calls',
  'failed',
  'half sent, s',
  'median, s',
  'last answer, s',
  'other server, s',
  'CPU µs/call, cold',
  'peak MiB',
];

function printRow(name: string, bursts: readonly Burst[]): string[] {
  const figure = (digits: number, read: (one: Burst) => number): string => {
    const rounds = bursts.map(read);
    return rounds.some((value) => value > 0) ? printMedian(rounds, digits) : '';
  };
  return [
    name,
    String(bursts[0]?.calls),
    String(Math.max(...bursts.map((one) => one.failed))),
    figure(2, (one) => one.halfSentMs / 1000),
    figure(2, (one) => one.medianMs / 1000),
    figure(2, (one) => one.lastMs / 1000),
    figure(2, (one) => one.otherMs / 1000),
    figure(0, (one) => one.cpuUs),
    figure(0, (one) => one.peakBytes / 2 ** 20),
  ];
}

function findMedianOf(bursts: readonly Burst[], read: (one: Burst) => number): number {
  return findMedian(bursts.map(read));
}

async function runFloor(bench: Bench): Promise<Burst> {
  const floor = listSubjects().find(({ name }) => name === FLOORS.close) as Subject;
  const subject = await floor.start(bench.ports.held, bench.folder);
  try {
    return await runBurst(bench, subject, buildExecuteRequest('', bench.ports.held), null);
  } finally {
    await subject.stop();
  }
}

async function runProxy(
  bench: Bench,
  settings: Record<string, string>,
  upstreamPort: number,
  other: HelperProcess,
): Promise<Burst> {
  const folder = mkdtempSync(join(bench.folder, 'burst-'));
  const key = await createKey(folder);
  const program = await startProgram(folder, settings);
  const headers = { 'x-request-timeout': '120' };
  try {
    const request = buildExecuteRequest(key, upstreamPort, headers);
    const otherRequest = buildExecuteRequest(key, bench.ports.small.keep, headers);
    return await runBurst(bench, program, request, () =>
      other.ask(buildJob(program.port, otherRequest, 1)).then((result) => result as LoadResult),
    );
  } finally {
    await program.stop();
  }
}

function buildJob(port: number, request: Buffer, calls: number): LoadJob {
  return { port, requests: [request], connections: calls, calls, bodyBytesMin: SMALL_BYTES - 20 };
}

async function runBurst(
  bench: Bench,
  { pid, port }: { pid: number; port: number },
  request: Buffer,
  callOther: (() => Promise<LoadResult>) | null,
): Promise<Burst> {
  await sleep(AGE_MS);
  const possible = Math.floor((readOpenFilesMax(pid) - OTHER_FILES) / 2);
  const calls = Math.min(bench.isQuick ? 1000 : CALLS_WANTED, possible);
  await bench.upstream.ask('hold');
  const cpuMs = readCpuMs(pid);
  const startedMs = performance.now();
  let isAnswered = false;
  const answers = (bench.load.ask(buildJob(port, request, calls)) as Promise<LoadResult>).finally(() => {
    isAnswered = true;
  });
  const others: Promise<LoadResult>[] = [];
  let held = 0;
  let halfSentMs = 0;
  let grewMs = Number.POSITIVE_INFINITY;
  while (!isAnswered && held < calls && performance.now() - grewMs < SILENCE_MS) {
    await sleep(10);
    const before = held;
    held = (await bench.upstream.ask('count')) as number;
    if (held > before) grewMs = performance.now();
    if (held >= calls / 2 && halfSentMs === 0) halfSentMs = performance.now() - startedMs;
    const due = OTHER_AFTER[others.length];
    if (callOther !== null && due !== undefined && held >= due * calls) others.push(callOther());
  }
  await bench.upstream.ask('release');
  const { failed, firstFault, p50Us, seconds } = await answers;
  const otherResults = await Promise.all(others);
  return {
    calls,
    failed,
    firstFault,
    halfSentMs,
    medianMs: p50Us / 1000,
    lastMs: seconds * 1000,
    otherMs: Math.max(0, ...otherResults.map((one) => one.seconds * 1000)),
    cpuUs: ((readCpuMs(pid) - cpuMs) * 1000) / calls,
    peakBytes: readPeakBytes(pid),
  };
}

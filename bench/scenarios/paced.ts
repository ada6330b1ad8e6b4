/**
 * Measures calls at a fixed rate that leaves the machine mostly idle, as with most callers: the time that the proxy
 * adds to a call, and its CPU time while caches are cold and nothing is batched.
 */
import { readCpuMs } from '../process-usage.ts';
import { buildExecuteRequest } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  microseconds,
  milliseconds,
  runLoad,
  type Scenario,
  type Table,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { FLOORS, listSubjects, PROXY, type RunningSubject } from '../subjects.ts';
import { type ConnectionMode, SMALL_BYTES } from '../upstream.ts';

const CALLS_PER_SECOND = 100;
/**
 * Short rounds, and many: other machines on the same host change the time of a call within seconds, and only rounds
 * that are close to each other can be compared.
 */
const CALLS = 150;
const ROUNDS = 30;
const FLOOR_FACTOR_MAX = 1.5;
const DIRECT = 'the upstream itself, no proxy';

interface Measured {
  name: string;
  /** Null for the upstream itself. */
  subject: RunningSubject | null;
  cpuUs: number[];
  p50Ms: number[];
  p99Ms: number[];
}

export const paced: Scenario = {
  name: 'paced',
  async run(bench) {
    return [await measure(bench, 'close'), await measure(bench, 'keep')];
  },
};

async function measure(bench: Bench, mode: ConnectionMode): Promise<Table> {
  const upstreamPort = bench.ports.small[mode];
  const measured: Measured[] = [{ name: DIRECT, subject: null, cpuUs: [], p50Ms: [], p99Ms: [] }];
  try {
    for (const { name, start } of listSubjects()) {
      if (name !== PROXY && name !== FLOORS[mode]) continue;
      const subject = await start(upstreamPort, bench.folder);
      measured.push({ name, subject, cpuUs: [], p50Ms: [], p99Ms: [] });
    }
    const run = (subject: RunningSubject | null, load: { calls: number; callsPerSecond?: number }) =>
      runLoad(bench, {
        port: subject?.port ?? upstreamPort,
        requests: [buildExecuteRequest(subject?.key ?? 'none', upstreamPort)],
        connections: 16,
        bodyBytesMin: SMALL_BYTES - 20,
        ...load,
      });
    for (const { subject } of measured) await run(subject, { calls: bench.isQuick ? 200 : WARM_UP_CALLS });
    const calls = bench.isQuick ? 50 : CALLS;
    for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++) {
      for (const { subject, cpuUs, p50Ms, p99Ms } of measured) {
        const beforeMs = subject === null ? 0 : readCpuMs(subject.pid);
        const { p50Us, p99Us } = await run(subject, { calls, callsPerSecond: CALLS_PER_SECOND });
        if (subject !== null) cpuUs.push(((readCpuMs(subject.pid) - beforeMs) * 1000) / calls);
        p50Ms.push(p50Us / 1000);
        p99Ms.push(p99Us / 1000);
      }
    }
  } finally {
    for (const { subject } of measured) await subject?.stop();
  }
  return tabulate(measured, mode);
}

function tabulate(measured: Measured[], mode: ConnectionMode): Table {
  const find = (name: string) => measured.find((line) => line.name === name)!;
  const [direct, floor, proxy] = [find(DIRECT), find(FLOORS[mode]), find(PROXY)];
  const addedMs = (line: Measured) => line.p50Ms.map((ms, round) => ms - direct.p50Ms[round]!);
  const ratio = findMedian(divideRounds(proxy.cpuUs, floor.cpuUs));
  const where = mode === 'keep' ? 'upstream keeps connections' : 'upstream closes connections';
  return {
    title: `At ${CALLS_PER_SECOND} calls a second, ${where}`,
    columns: ['', 'p50 ms', 'added ms', 'p99 ms', 'CPU µs/call', 'of the floor'],
    rows: [direct, floor, proxy].map((line) => [
      line.name,
      milliseconds(line.p50Ms, 2),
      line === direct ? '' : milliseconds(addedMs(line), 2),
      milliseconds(line.p99Ms, 2),
      line === direct ? '' : microseconds(line.cpuUs),
      line === direct ? '' : times(divideRounds(line.cpuUs, floor.cpuUs)),
    ]),
    notes: [],
    findings:
      mode === 'close'
        ? []
        : [
            {
              isReached: ratio <= FLOOR_FACTOR_MAX,
              text: `CPU time at ${CALLS_PER_SECOND} calls a second, ${where}: at most ${FLOOR_FACTOR_MAX} times the floor (${ratio.toFixed(2)} times)`,
            },
          ],
    answers: [
      {
        question: 'time',
        text: `${findMedian(addedMs(proxy)).toFixed(2)} ms at ${CALLS_PER_SECOND} calls a second, ${where}${mode === 'close' ? ' like Odoo' : ''}. ${describeTail(direct, proxy)}`,
      },
    ],
  };
}

function describeTail(direct: Measured, proxy: Measured): string {
  const [directMs, proxyMs] = [findMedian(direct.p99Ms), findMedian(proxy.p99Ms)];
  return `One call in a hundred takes longer than ${proxyMs.toFixed(1)} ms in all; without the proxy, ${directMs.toFixed(1)} ms.`;
}

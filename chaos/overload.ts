/**
 * Offers five times the calls that can be served. Measures how many are answered, how soon the others are refused, and
 * how long the recovery takes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startHelper } from '../bench/helper-process.ts';
import type { LoadResult } from '../bench/load.ts';
import { readResidentBytes } from '../bench/process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../bench/program.ts';
import { printMebibytes, type Table } from '../bench/scenario.ts';
import type { SteadyResult } from './steady-load.ts';

const FACTOR = 5;
/** Minimum share of the best rate that must be answered during the overload. */
const GOODPUT_MIN = 0.8;
const RECOVERY_SECONDS_MAX = 5;
/** Part of the best rate that is offered after the overload. */
const CALM = 0.5;
const PATIENCE_MS = 3000;

interface Bottleneck {
  name: string;
  workers: number;
  workMs: number;
  /** Number of connections in the search for the best rate. */
  connections: number;
  /** Maximum number of callers in the overload, each with one connection. */
  callers: number;
}

const BOTTLENECKS: Bottleneck[] = [
  { name: 'Odoo: 8 workers of 20 ms', workers: 8, workMs: 20, connections: 12, callers: 8000 },
  { name: "the proxy's processor", workers: 10_000, workMs: 1, connections: 16, callers: 1000 },
  { name: "the proxy's processor", workers: 10_000, workMs: 1, connections: 16, callers: 8000 },
];

export async function measureOverload(parent: string, isQuick: boolean): Promise<Table> {
  const measured = [];
  for (const bottleneck of BOTTLENECKS) measured.push(await measure(parent, isQuick, bottleneck));
  return {
    title: `Overload: ${FACTOR} times the capacity`,
    columns: [
      'bottleneck',
      'callers',
      'best calls/s',
      'offered/s',
      'answered/s',
      'of the best',
      'answered p99 ms',
      'refused/s',
      'refused p50 ms',
      'p99',
      'no answer/s',
      'not sent/s',
      'MiB before',
      'most',
      's to recover',
    ],
    rows: measured.map(({ name, callers, best, seconds, over, share, memory, recoverySeconds }) => [
      name,
      String(callers),
      best.toFixed(0),
      (over.offered / seconds).toFixed(0),
      (share * best).toFixed(0),
      `${(share * 100).toFixed(0)} %`,
      over.answeredP99Ms.toFixed(0),
      (countRefused(over) / seconds).toFixed(0),
      over.refusedP50Ms.toFixed(0),
      over.refusedP99Ms.toFixed(0),
      (over.lost / seconds).toFixed(0),
      (over.unsent / seconds).toFixed(0),
      printMebibytes(memory.before),
      printMebibytes(memory.most),
      recoverySeconds === null ? 'never' : String(recoverySeconds),
    ]),
    notes: [
      measured.every(({ isApart }) => isApart)
        ? 'The proxy had a core of its own. The load generators and the Odoo shared another core, on which the Odoo had the time that it needed. Both therefore had as much processor time during the overload as in the search for the best rate.'
        : 'There was no `taskset`, or no second core. The load generators took processor time from the proxy and the Odoo, and more of it during the overload.',
      `The best rate is measured with one call at a time on each connection: ${BOTTLENECKS.map(({ connections, name, callers }) => `${connections} connections (${name}, ${callers} callers)`).join(', ')}. During the overload, calls are sent at a fixed rate with \`x-request-timeout: 1\`. Each caller has one connection and waits at most ${PATIENCE_MS / 1000} s. If all callers are busy, a call is not sent. The column answered/s omits the first second. After the overload, ${CALM * 100} % of the best rate is offered at once. The recovery ends in the first second in which 95 % of that is answered.`,
    ],
    findings: measured.flatMap(({ name, callers, share, recoverySeconds }) => [
      {
        isReached: share >= GOODPUT_MIN,
        text: `goodput at ${FACTOR} times capacity is at least ${GOODPUT_MIN * 100} % of the best (${(share * 100).toFixed(0)} %; bottleneck: ${name}; ${callers} callers)`,
      },
      {
        isReached: recoverySeconds !== null && recoverySeconds <= RECOVERY_SECONDS_MAX,
        text: `recovered within ${RECOVERY_SECONDS_MAX} s (${recoverySeconds ?? 'not within the run'}; bottleneck: ${name}; ${callers} callers)`,
      },
    ]),
  };
}

async function measure(parent: string, isQuick: boolean, bottleneck: Bottleneck) {
  const { name, workers, workMs, connections, callers } = bottleneck;
  const folder = mkdtempSync(join(parent, 'overload-'));
  const key = await createKey(folder);
  const odoo = await startHelper(new URL('./busy-odoo.ts', import.meta.url), [
    String(workers),
    String(workMs),
  ]);
  const load = await startHelper(new URL('../bench/load.ts', import.meta.url));
  const steady = await startHelper(new URL('./steady-load.ts', import.meta.url));
  const program = await startProgram(folder, { 'upstream.protocol': 'jsonrpc' });
  const isApart = await separateCores(program.pid, odoo.pid, [load.pid, steady.pid]);
  const request = buildExecuteRequest(key, odoo.hello as number, { 'x-request-timeout': '1' });
  try {
    const findBest = async (calls: number) => {
      const job = { port: program.port, requests: [request], connections, calls, bodyBytesMin: 10 };
      const result = (await load.ask(job)) as LoadResult;
      if (result.failed > 0) throw new Error(`${result.failed} calls failed: ${result.firstFault}`);
      return calls / result.seconds;
    };
    const isSlow = workMs > 1;
    await findBest(isQuick ? 300 : isSlow ? 2000 : 12_000);
    const best = await findBest(isQuick ? 300 : isSlow ? 3000 : 12_000);
    const memory = { before: readResidentBytes(program.pid), most: 0 };
    const watch = setInterval(() => {
      memory.most = Math.max(memory.most, readResidentBytes(program.pid));
    }, 50);
    const seconds = isQuick ? 3 : 20;
    const offer = async (perSecond: number, forSeconds: number) =>
      (await steady.ask({
        port: program.port,
        request,
        perSecond,
        seconds: forSeconds,
        connectionsMax: callers,
        patienceMs: PATIENCE_MS,
      })) as SteadyResult;
    const over = await offer(FACTOR * best, seconds);
    clearInterval(watch);
    const after = await offer(CALM * best, isQuick ? 2 : 10);
    const share = over.answered.slice(1).reduce((sum, count) => sum + count, 0) / (seconds - 1) / best;
    const recovered = after.answered.findIndex((count) => count >= 0.95 * CALM * best);
    return {
      name,
      callers,
      isApart,
      best,
      seconds,
      over,
      share,
      memory,
      recoverySeconds: recovered < 0 ? null : recovered + 1,
    };
  } finally {
    await program.stop();
    await steady.stop();
    await load.stop();
    await odoo.stop();
  }
}

/**
 * Gives the proxy a core of its own, and the Odoo precedence on the other one. At five times the rate, the load
 * generators would otherwise take processor time that proxy and Odoo had in the search for the best rate. Returns false
 * if the machine has fewer than two cores or no `taskset`.
 */
async function separateCores(proxy: number, odoo: number, loads: readonly number[]): Promise<boolean> {
  const bind = (pid: number, core: number) =>
    promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
  try {
    await Promise.all([bind(proxy, 0), ...[odoo, ...loads].map((pid) => bind(pid, 1))]);
  } catch {
    return false;
  }
  for (const pid of loads) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  return true;
}

function countRefused({ refused }: SteadyResult): number {
  return Object.values(refused).reduce((sum, count) => sum + count, 0);
}

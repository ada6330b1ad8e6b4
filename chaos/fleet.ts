/** Sends one call to 200 instances, of which some are broken. Measures its answer, and the calls of other callers. */
import { mkdtempSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createKey, startAdministered, storeInstance } from '../bench/administered-program.ts';
import { startHelper } from '../bench/helper-process.ts';
import type { LoadResult } from '../bench/load.ts';
import { buildExecuteRequest, type Program } from '../bench/program.ts';
import { findMedian, type Table } from '../bench/scenario.ts';
import { SMALL_BYTES, type UpstreamPorts } from '../bench/upstream.ts';
import type { OdooFleet, OdooFleetSizes } from './odoo-fleet.ts';

const REFUSING = 5;
const SIZES: OdooFleetSizes = {
  sandboxes: 187,
  hanging: 10,
  upgrading: 3,
  workMs: { fastest: 50, slowest: 5000 },
};
/** Time until the last instance that is not hung has answered, as a multiple of the time of the slowest one. */
const SLOWEST_RATIO_MAX = 1.2;
const P99_RATIO_MAX = 1.2;
/** Few enough calls to leave the machine idle time, so that only a wait shows. */
const CALLS_PER_SECOND = 150;
const ROUND_SECONDS = 5;

interface FleetTimes {
  /** Time until the last line of an instance that is not hung, in milliseconds. */
  answeredMs: number;
  /** Time until the last line, in milliseconds. */
  wholeMs: number;
  /** Number of results, and of errors by their type. */
  kinds: Record<string, number>;
}

export async function measureFleet(parent: string, isQuick: boolean): Promise<Table> {
  const folder = mkdtempSync(join(parent, 'fleet-'));
  const odoos = await startHelper(new URL('./odoo-fleet.ts', import.meta.url));
  const upstream = await startHelper(new URL('../bench/upstream.ts', import.meta.url));
  const load = await startHelper(new URL('../bench/load.ts', import.meta.url));
  const program = await startAdministered({ folder });
  // The Odoos of a fleet run on machines of their own.
  setPriority(odoos.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    await storeFleet(program, (await odoos.ask(SIZES)) as OdooFleet);
    const key = await createKey(program, null);
    const { small } = upstream.hello as UpstreamPorts;
    const callOthers = async (seconds: number) => {
      const result = (await load.ask({
        port: program.port,
        requests: [buildExecuteRequest(key, small.close)],
        connections: 1,
        callsPerSecond: CALLS_PER_SECOND,
        calls: CALLS_PER_SECOND * seconds,
        bodyBytesMin: SMALL_BYTES - 20,
      })) as LoadResult;
      if (result.failed > 0) throw new Error(`${result.failed} calls failed: ${result.firstFault}`);
      return result.p99Us / 1000;
    };
    await callOthers(isQuick ? 1 : 40);
    const without: number[] = [];
    const during: number[] = [];
    const times: FleetTimes[] = [];
    for (let round = 0; round < (isQuick ? 1 : 7); round++) {
      without.push(await callOthers(ROUND_SECONDS));
      const fleet = callFleet(program, key);
      during.push(await callOthers(ROUND_SECONDS));
      times.push(await fleet);
    }
    return describe(times, without, during);
  } finally {
    await program.stop();
    await load.stop();
    await upstream.stop();
    await odoos.stop();
  }
}

async function storeFleet(program: Program, { sandboxes, hanging, upgrading }: OdooFleet): Promise<void> {
  for (const [index, { port, db, user }] of sandboxes.entries()) {
    // Spread over versions and speeds.
    const isRefused = index % Math.ceil(sandboxes.length / REFUSING) === 0;
    const api_key = isRefused ? `${user.apiKey.slice(0, -4)}0000` : user.apiKey;
    await storeInstance(program, port, { name: `client-${index}`, db, user_id: user.userId, api_key });
  }
  for (const port of hanging) await storeInstance(program, port, { name: `hanging-${port}` });
  for (const port of upgrading) await storeInstance(program, port, { name: `upgrading-${port}` });
}

function callFleet(program: Program, key: string): Promise<FleetTimes> {
  const call = { action: 'search_count', model_id: 'res.partner', params: [[]] };
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      port: program.port,
      path: '/api/erp/fleet',
      method: 'POST',
      agent: false,
      headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
    });
    request.on('error', reject);
    request.on('response', async (response) => {
      const times: FleetTimes = { answeredMs: 0, wholeMs: 0, kinds: {} };
      for await (const line of createInterface({ input: response })) {
        const { instance, error } = JSON.parse(line);
        if (instance === undefined) continue;
        times.wholeMs = performance.now() - startedMs;
        if (!instance.startsWith('hanging')) times.answeredMs = times.wholeMs;
        const kind = error?.data.type ?? 'result';
        times.kinds[kind] = (times.kinds[kind] ?? 0) + 1;
      }
      resolve(times);
    });
    request.end(JSON.stringify({ call, instances: ['*'] }));
  });
}

function describe(times: FleetTimes[], withoutMs: number[], duringMs: number[]): Table {
  const { slowest } = SIZES.workMs;
  const answeredMs = times.map((each) => each.answeredMs);
  const slowestRatio = findMedian(answeredMs) / slowest;
  // Within a round, because the load of the machine changes between rounds.
  const p99Ratio = findMedian(duringMs.map((ms, round) => ms / withoutMs[round]!));
  const all = SIZES.sandboxes + SIZES.hanging + SIZES.upgrading;
  return {
    title: `One call on ${all} instances`,
    columns: ['what', 'value'],
    rows: [
      ['slowest Odoo that is not broken, s', printSeconds(slowest)],
      [
        'its answer, and all others of Odoos that do not hang, are there after, s',
        printSeconds(findMedian(answeredMs)),
      ],
      ['… in the first request, s', printSeconds(answeredMs[0]!)],
      ['the last line, s', printSeconds(findMedian(times.map(({ wholeMs }) => wholeMs)))],
      ['… in the first request, s', printSeconds(times[0]!.wholeMs)],
      ...Object.entries(times[0]!.kinds).map(([kind, count]) => [
        `lines of the first request: ${kind}`,
        String(count),
      ]),
      ['p99 of other calls without it, ms', findMedian(withoutMs).toFixed(2)],
      ['… with it, ms', findMedian(duringMs).toFixed(2)],
      ['… ratio within a round', p99Ratio.toFixed(2)],
    ],
    notes: [
      `Sandboxes of four versions work ${SIZES.workMs.fastest} ms to ${slowest / 1000} s on the call. ${SIZES.hanging} servers hang, ${REFUSING} refuse the key, ${SIZES.upgrading} are being upgraded. ${CALLS_PER_SECOND} other calls a second go to a further server. Figures are medians of ${times.length} rounds. After a server has hung often enough, its circuit breaker is open, and its line is there at once.`,
    ],
    findings: [
      {
        isReached: slowestRatio <= SLOWEST_RATIO_MAX,
        text: `one call on ${all} instances: all that do not hang have answered within ${SLOWEST_RATIO_MAX} times the time of the slowest (${slowestRatio.toFixed(2)})`,
      },
      {
        isReached: p99Ratio <= P99_RATIO_MAX,
        text: `one call on ${all} instances: p99 of other calls grows at most ${P99_RATIO_MAX} times (${p99Ratio.toFixed(2)})`,
      },
    ],
  };
}

function printSeconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

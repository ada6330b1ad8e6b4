/** Measures calls to one Odoo, with and without a thousand calls that hang on another one. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HelperProcess, startHelper } from '../bench/helper-process.ts';
import type { LoadJob, LoadResult } from '../bench/load.ts';
import { buildExecuteRequest, createKey, startProgram } from '../bench/program.ts';
import { findMedian, type Table } from '../bench/scenario.ts';
import { SMALL_BYTES, type UpstreamPorts } from '../bench/upstream.ts';

const HANGING = 1000;
const RATIO_MAX = 1.5;
/** Few enough calls to leave the machine idle time, so that only a wait of one upstream for the other shows. */
const CONNECTIONS = 4;

interface Round {
  p50Us: number;
  p99Us: number;
}

export async function measureHungUpstream(parent: string, isQuick: boolean): Promise<Table> {
  const queued = await measure(parent, isQuick, {});
  // With a concurrency limit above the number of hanging calls, all of them are sent and none waits in the queue.
  const concurrency = String(2 * HANGING);
  const sent = await measure(parent, isQuick, {
    'upstream.concurrency': concurrency,
    'upstream.concurrencyMin': concurrency,
  });
  const cases = [
    { name: 'default settings: some are sent, the others wait', ...queued },
    { name: 'upstream.concurrency 2000: all are sent', ...sent },
  ];
  return {
    title: 'A hung Odoo beside a healthy one',
    columns: [
      `${HANGING} calls on A`,
      'sent',
      'B p50 ms, without',
      'with',
      'B p99 ms, without',
      'with',
      'ratio',
    ],
    rows: cases.map(({ name, held, without, hanging, ratio }) => [
      name,
      String(held),
      printMs(without.p50Us),
      printMs(hanging.p50Us),
      printMs(without.p99Us),
      printMs(hanging.p99Us),
      ratio.toFixed(2),
    ]),
    notes: [
      `${CONNECTIONS} connections to B, each with one call at a time. Figures are medians of rounds before, during and after the calls on A hang.`,
    ],
    findings: cases.map(({ name, ratio }) => ({
      isReached: ratio <= RATIO_MAX,
      text: `p99 of B grows at most ${RATIO_MAX} times while ${HANGING} calls hang on A (${ratio.toFixed(2)}; ${name})`,
    })),
  };
}

async function measure(parent: string, isQuick: boolean, settings: Record<string, string>) {
  const folder = mkdtempSync(join(parent, 'hung-'));
  const key = await createKey(folder);
  const upstream = await startHelper(new URL('../bench/upstream.ts', import.meta.url));
  const ports = upstream.hello as UpstreamPorts;
  const load = await startHelper(new URL('../bench/load.ts', import.meta.url));
  const program = await startProgram(folder, { 'upstream.protocol': 'jsonrpc', ...settings });
  const toB = {
    port: program.port,
    requests: [buildExecuteRequest(key, ports.small.close)],
    connections: CONNECTIONS,
    bodyBytesMin: SMALL_BYTES - 20,
  };
  try {
    await callAll(load, { ...toB, calls: isQuick ? 1000 : 12_000 });
    const without = await runRounds();
    const hanging = await startHelper(new URL('../bench/load.ts', import.meta.url));
    void hanging
      .ask({
        ...toB,
        requests: [buildExecuteRequest(key, ports.held, { 'x-request-timeout': '300' })],
        connections: HANGING,
        connectionsAtOnce: 200,
        calls: HANGING,
      })
      .catch(() => {});
    const held = await waitUntilSteady(async () => (await upstream.ask('count')) as number);
    const during = await runRounds();
    await hanging.stop();
    await sleep(1000);
    without.push(...(await runRounds()));
    const ratio = takeMedian(during).p99Us / takeMedian(without).p99Us;
    return { held, without: takeMedian(without), hanging: takeMedian(during), ratio };
  } finally {
    await program.stop();
    await load.stop();
    await upstream.stop();
  }

  async function runRounds(): Promise<Round[]> {
    const rounds: Round[] = [];
    for (let round = 0; round < (isQuick ? 1 : 5); round++)
      rounds.push(await callAll(load, { ...toB, calls: isQuick ? 500 : 2500 }));
    return rounds;
  }
}

/** Waits until the count has stopped growing, and returns it. */
async function waitUntilSteady(count: () => Promise<number>): Promise<number> {
  for (let before = -1; ; await sleep(2000)) {
    const now = await count();
    if (now === before && now > 0) return now;
    before = now;
  }
}

async function callAll(load: HelperProcess, job: LoadJob): Promise<Round> {
  const result = (await load.ask(job)) as LoadResult;
  if (result.failed > 0) throw new Error(`${result.failed} calls failed: ${result.firstFault}`);
  return result;
}

function takeMedian(rounds: Round[]): Round {
  return {
    p50Us: findMedian(rounds.map(({ p50Us }) => p50Us)),
    p99Us: findMedian(rounds.map(({ p99Us }) => p99Us)),
  };
}

function printMs(us: number): string {
  return (us / 1000).toFixed(2);
}

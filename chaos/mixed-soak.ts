/** Runs every kind of caller and failure at once, with default settings. At the end, every gauge must be 0. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, startProgram } from '../bench/program.ts';
import type { Table } from '../bench/scenario.ts';
import { type MixedOutcomes, runMixedLoad } from '../packages/server/test/mixed-load.ts';
import { answerByWord } from '../packages/server/test/mixed-odoo.ts';
import { startUpstream } from '../packages/server/test/scripted-upstream.ts';
import { createRandom } from '../packages/server/test/seeded-random.ts';

const CALLERS = 60;
const SECONDS = 120;
const SECONDS_QUICK = 10;
const STALL_MS_MAX = 1000;
/** Longer than any call at default settings, in milliseconds. */
const REST_MS_MAX = 30_000;
/** Gauges that must be 0 when no calls run. */
const GAUGES = [
  'requests_in_flight',
  'upstream_running',
  'upstream_waiting',
  'upstream_breaker_open',
  'audit_waiting_records',
];

interface Watch {
  /** Longest answer of `/healthz`, and longest delay of the event loop as measured by the proxy, in milliseconds. */
  healthMsMax: number;
  lagMsMax: number;
  stop(): Promise<void>;
}

export async function runMixedSoak(parent: string, isQuick: boolean, seed: number): Promise<Table> {
  const seconds = isQuick ? SECONDS_QUICK : SECONDS;
  const folder = mkdtempSync(join(parent, 'mixed-'));
  const keys = [await createKey(folder), await createKey(folder), await createKey(folder)];
  const random = createRandom(seed);
  const servers = [await startUpstream(answerByWord(random)), await startUpstream(answerByWord(random))];
  const program = await startProgram(folder, { 'upstream.protocol': 'jsonrpc' });
  const url = `http://127.0.0.1:${program.port}`;
  const instances = servers.flatMap((server) => ['one', 'two'].map((db) => printInstance(server.url, db)));
  const watch = startWatch(url);
  try {
    const endMs = performance.now() + seconds * 1000;
    const isOver = () => performance.now() >= endMs;
    const outcomes = await runMixedLoad({ url, keys, instances, callers: CALLERS, isOver, random });
    const left = await waitForRest(url, keys[0] as string, instances);
    await watch.stop();
    return describeSoak({ seed, seconds, outcomes, watch, left });
  } finally {
    await program.stop();
    for (const server of servers) await server.close();
  }
}

function printInstance(url: string, db: string): string {
  return JSON.stringify({ url, db, user_id: 2, api_key: '0123456789abcdef0123456789abcdef01234567' });
}

function startWatch(url: string): Watch {
  let isOver = false;
  const watch: Watch = { healthMsMax: 0, lagMsMax: 0, stop };
  const repeat = async (ms: number, measure: () => Promise<void>) => {
    for (; !isOver; await sleep(ms)) await measure();
  };
  const measurements = [
    repeat(50, async () => {
      const startedMs = performance.now();
      await (await fetch(`${url}/healthz`)).text();
      watch.healthMsMax = Math.max(watch.healthMsMax, performance.now() - startedMs);
    }),
    repeat(1000, async () => {
      const [lag = 0] = readMetric(await readMetrics(url), 'nodejs_eventloop_lag_max_seconds');
      watch.lagMsMax = Math.max(watch.lagMsMax, lag * 1000);
    }),
  ];
  return watch;

  async function stop(): Promise<void> {
    isOver = true;
    await Promise.all(measurements);
  }
}

/**
 * Waits until every gauge is 0, and returns those that are not, with their values. First sends calls until they
 * succeed, which closes the circuit breakers.
 */
async function waitForRest(url: string, key: string, instances: string[]): Promise<string[]> {
  const endMs = performance.now() + REST_MS_MAX;
  for (const instance of instances)
    while (!(await isAnswered(url, key, instance)) && performance.now() < endMs) await sleep(500);
  for (;;) {
    const metrics = await readMetrics(url);
    const left = GAUGES.flatMap((gauge) =>
      readMetric(metrics, `erp_proxy_${gauge}`)
        .filter((value) => value !== 0)
        .map((value) => `${gauge} ${value}`),
    );
    if (left.length === 0 || performance.now() >= endMs) return left;
    await sleep(500);
  }
}

async function isAnswered(url: string, key: string, instance: string): Promise<boolean> {
  const body = `{"id":1,"action":"search","model_id":"res.partner","params":[[["name","=","word-quick"]]],"erp_instance":${instance}}`;
  const headers = {
    'content-type': 'application/json',
    'x-proxy-api': key,
    'cache-control': 'no-cache',
    'x-request-timeout': '5',
  };
  const answer = await fetch(`${url}/api/erp/execute`, { method: 'POST', headers, body });
  return (await answer.text()).includes('"result"');
}

async function readMetrics(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** Returns the values of all series of a metric. */
function readMetric(metrics: string, name: string): number[] {
  return [...metrics.matchAll(new RegExp(`^${name}(?:{.*})? (.*)$`, 'gm'))].map(([, value]) => Number(value));
}

interface Soak {
  seed: number;
  seconds: number;
  outcomes: MixedOutcomes;
  watch: Watch;
  left: string[];
}

function describeSoak({ seed, seconds, outcomes, watch, left }: Soak): Table {
  const { healthMsMax, lagMsMax } = watch;
  const answers = Object.entries(outcomes.answers).toSorted(([, one], [, other]) => other - one);
  const faults = (outcomes.answers['internal'] ?? 0) + (outcomes.answers['without a type'] ?? 0);
  const rows: [string, string][] = [
    ['requests', String(outcomes.requests)],
    ['… of them batches', String(outcomes.batches)],
    ['calls', String(outcomes.calls)],
    ['requests whose caller left', String(outcomes.left)],
    ['requests whose connection was broken off', String(outcomes.brokenOff)],
    ...answers.map(([type, count]): [string, string] => [`answers: ${type}`, String(count)]),
    ['longest answer of `/healthz`, ms', healthMsMax.toFixed(0)],
    ['longest delay of the event loop, ms', lagMsMax.toFixed(0)],
    ['gauges that are not 0 at the end', left.length === 0 ? 'none' : left.join(', ')],
  ];
  const stallMs = Math.max(healthMsMax, lagMsMax);
  return {
    title: 'Mixed soak',
    columns: ['what', 'count'],
    rows,
    notes: [
      `${CALLERS} callers with three keys, on two servers with two databases each, for ${seconds} s with default settings, seed ${seed}. Callers send single calls and batches, reads that can share an answer, idempotency keys, and time limits of 1 to 3 s. A fifth of them leave, a tenth read slowly. The servers answer at once, slowly, with 2 MB, or with 502 and 503. They also break connections before or during an answer, or never answer. When all calls have ended, each gauge (${GAUGES.map((gauge) => `\`${gauge}\``).join(', ')}) must be 0.`,
    ],
    findings: [
      {
        isReached: left.length === 0,
        text: `mixed soak: every gauge is 0 at the end (exceptions: ${left.length === 0 ? 'none' : left.join(', ')})`,
      },
      {
        isReached: stallMs < STALL_MS_MAX,
        text: `mixed soak: the event loop is never blocked for ${STALL_MS_MAX} ms (${stallMs.toFixed(0)})`,
      },
      { isReached: faults === 0, text: `mixed soak: no internal error of the proxy (${faults})` },
    ],
  };
}

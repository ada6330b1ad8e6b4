/**
 * Kills proxies at random while clients ask for jobs, and checks that each accepted job ends, that no write reaches
 * Odoo twice, that the state of each job is true, and that its end is reported. Two proxies share the store, so that
 * one takes over from the other.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Job } from '@erp-proxy/contract';
import { printPage, printRecord, readPageCall } from '../export/export-stage.ts';
import { startProxy } from '../harness.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { startReceiver } from '../subscriptions/receiver.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { pause, pauseAtRandom } from '../time.ts';
import { MASTER_KEY, readResult, request } from './job-stage.ts';

const PROGRAM = fileURLToPath(new URL('killable-proxy.ts', import.meta.url));
const PROXIES = 2;
/** Several databases, because jobs of one database wait for each other. */
const DATABASES = 8;
const CLIENTS = 6;
const EXPORTED = 3000;
const ANSWER_MS_MAX = 60;
const BETWEEN_KILLS_MS_MAX = 400;
const BROKEN_SHARE = 0.05;
/** Number of checks in at least two minutes. */
const CHECKS_MAX = 6000;
const CALLBACK = 'ended-jobs';

type Kind = 'write' | 'read' | 'export';

export interface KillReport {
  seed: number;
  kills: number;
  /** Number of accepted jobs, by kind and state. */
  jobs: Record<string, number>;
  /** Number of writes that reached Odoo. */
  writes: number;
  /** Number of requests for jobs whose answer was lost. */
  lostAnswers: number;
  /** Descriptions of everything that was not as promised. */
  faults: string[];
}

/** `storeUrl`: by default, a SQLite file. */
export async function runKillRounds(kills: number, seed: number, storeUrl?: string): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  const store = storeUrl ?? `sqlite:${folder}/store.db`;
  const random = createRandom(seed);
  /** Number of times that Odoo got each write. */
  const runs = new Map<string, number>();
  const upstream = await startUpstream(async (socket, { body }) => {
    const marker = /"(write-\d+)"/.exec(body.toString())?.[1];
    if (marker !== undefined) runs.set(marker, (runs.get(marker) ?? 0) + 1);
    const isExport = body.includes('"search_read"');
    await pauseAtRandom(random, ANSWER_MS_MAX);
    if (random() < BROKEN_SHARE && !isExport) socket.destroy();
    else
      answerLikeOdoo(
        socket,
        isExport ? printPage(readPageCall(body), EXPORTED, printRecord) : printResult('7'),
      );
  });
  const receiver = await startReceiver();
  const settings = { 'store.url': store, 'vault.masterKey': MASTER_KEY, 'egress.allow': receiver.url };
  const creator = await startProxy({ settings });
  const { key } = creator;
  await creator.app
    .adminFor(TEST_ACTOR)
    .createSubscription({ name: CALLBACK, events: ['job.ended'], url: receiver.url, interval_seconds: 5 });
  await creator.close();

  const proxies: Killable[] = [];
  const accepted = new Map<string, { kind: Kind; marker: string }>();
  const faults: string[] = [];
  let number = 0;
  let lostAnswers = 0;
  let isOver = false;

  async function askForJobs(): Promise<void> {
    while (!isOver) {
      const url = proxies[Math.floor(random() * proxies.length)]?.url ?? null;
      if (url === null) {
        await pause();
        continue;
      }
      const kind = (['write', 'write', 'read', 'export'] as const)[Math.floor(random() * 4)]!;
      const marker = `${kind}-${number++}`;
      const { erp_instance, ...call } = makeCall(upstream.url);
      const instance = { ...(erp_instance as object), db: `db${Math.floor(random() * DATABASES)}` };
      const body =
        kind === 'export'
          ? { model_id: 'res.partner', fields: ['name'], erp_instance: instance }
          : {
              ...call,
              erp_instance: instance,
              ...(kind === 'write' ? { action: 'create', params: [{ name: marker }] } : {}),
            };
      try {
        const { status, headers, json } = await request(
          { url, key },
          'POST',
          `/api/erp/${kind === 'export' ? 'export' : 'execute'}`,
          { headers: { prefer: `respond-async; callback=${CALLBACK}` }, body },
        );
        if (status === 202) accepted.set(headers.location!, { kind, marker });
        else if (status !== 503 && status !== 429)
          faults.push(`${marker}: ${status} ${JSON.stringify(json)}`);
      } catch {
        // The job may be stored.
        lostAnswers++;
      }
      await pauseAtRandom(random);
    }
  }

  const counts: Record<string, number> = {};
  try {
    const allow = `${upstream.url},${receiver.url}`;
    for (let index = 0; index < PROXIES; index++) proxies.push(await Killable.start(store, allow));
    const clients = Array.from({ length: CLIENTS }, askForJobs);
    for (let killed = 0; killed < kills; killed++) {
      await pauseAtRandom(random, BETWEEN_KILLS_MS_MAX);
      const index = Math.floor(random() * PROXIES);
      await proxies[index]!.kill();
      proxies[index] = await Killable.start(store, allow);
    }
    isOver = true;
    await Promise.all(clients);
    const client = { url: proxies[0]!.url!, key };
    for (const [path, { kind, marker }] of accepted) {
      const job = await waitForEnd(client, path);
      const state = job?.state ?? 'missing';
      counts[`${kind} ${state}`] = (counts[`${kind} ${state}`] ?? 0) + 1;
      const times = runs.get(marker) ?? 0;
      const fault =
        kind === 'write' ? checkWrite(state, times) : await checkRead(kind, state, job, client, path);
      if (fault !== null) faults.push(`${marker} (${path}): ${fault}: ${JSON.stringify(job)}`);
    }
    const findReport = (id: string) => receiver.received.find(({ json }) => json.data.id === id);
    for (const [path, { marker }] of accepted) {
      const id = path.split('/').at(-1)!;
      for (let checks = 0; checks < CHECKS_MAX && findReport(id) === undefined; checks++) await pause();
      const report = findReport(id);
      const { json: job } = await request(client, 'GET', path);
      if (report?.json.data.state !== job.state)
        faults.push(`${marker} (${path}): the report of its end is ${JSON.stringify(report?.json)}`);
    }
    for (const [marker, times] of runs) if (times > 1) faults.push(`${marker} ran ${times} times`);
  } finally {
    isOver = true;
    for (const proxy of proxies) await proxy.kill();
    await upstream.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  }
  return { seed, kills, jobs: counts, writes: runs.size, lostAnswers, faults };
}

function checkWrite(state: string, times: number): string | null {
  if (state === 'done') return times === 1 ? null : `is done and ran ${times} times`;
  if (state === 'unknown') return times <= 1 ? null : `ran ${times} times`;
  return `is ${state}`;
}

async function checkRead(
  kind: Kind,
  state: string,
  job: Job | null,
  client: { url: string; key: string },
  path: string,
): Promise<string | null> {
  // Odoo has broken off the connection, also of each retry.
  if (kind === 'read' && job?.error?.data.type === 'upstream_unreachable') return null;
  if (state !== 'done') return `is ${state}`;
  if (kind === 'read') return null;
  const { body } = await readResult(client, path);
  const lines = body.toString().split('\n').length - 1;
  return lines === EXPORTED ? null : `has ${lines} records`;
}

/** Null: the job does not end, or is not there. */
async function waitForEnd(client: { url: string; key: string }, path: string): Promise<Job | null> {
  for (let checks = 0; checks < CHECKS_MAX; checks++) {
    const { status, json } = await request(client, 'GET', path);
    if (status === 404) return null;
    if (status === 200 && json.ended_at !== null) return json;
    await pause();
  }
  return null;
}

class Killable {
  readonly #child: ChildProcess;
  /** Null once it is killed. */
  url: string | null;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(store: string, allow: string): Promise<Killable> {
    const child = spawn(process.execPath, [PROGRAM, store, allow], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    // The stream stays open, because the proxy logs to it.
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout!.on('data', (piece) => {
        text += piece;
        const found = /ready (\S+)\n/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', () => reject(new Error(`a proxy ended: ${text}`)));
    });
    return new Killable(child, url);
  }

  async kill(): Promise<void> {
    this.url = null;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

/**
 * Tests idempotency keys. Clients repeat each create until they get a final answer, while the proxy is killed again and
 * again and the Odoo breaks connections. At the end, the clients' answers are compared with the records of the Odoo.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startHelper } from '../bench/helper-process.ts';
import { createKey, locateStore } from '../bench/program.ts';
import { createRandom } from '../packages/server/test/seeded-random.ts';
import type { OdooRecord } from './breaking-odoo.ts';
import { findServerPort, KillableProxy } from './killable-proxy.ts';

export interface IdempotencyRun {
  seed: number;
  creates: number;
  kills: number;
  /** Folder for the store and the log. */
  folder: string;
  /** URL of a store that no other run uses; default: a SQLite file in the folder. */
  storeUrl?: string;
  /** URL of a Redis for the idempotency keys; default: they are in the store. */
  redisUrl?: string;
  onKill?: (kills: number, ended: number) => void;
}

export interface IdempotencyProof {
  seed: number;
  seconds: number;
  creates: number;
  kills: number;
  keptIn: 'SQLite' | 'PostgreSQL' | 'Redis';
  /** Requests that clients sent, including those that found no proxy or lost the connection to it (`attemptsLost`). */
  attempts: number;
  attemptsLost: number;
  /** Creates whose client got an id, including those that got it from the store in a later attempt (`replayed`). */
  confirmed: number;
  replayed: number;
  /** Creates whose client got -32015, including those that Odoo had run (`uncertainRun`). */
  uncertain: number;
  uncertainRun: number;
  /** Number of connections to Odoo for each way in which they ended. */
  fates: OdooRecord['fates'];
  /** Creates that ran more than once, by their markers. */
  duplicates: string[];
  confirmedMissing: string[];
  confirmedWithOtherId: string[];
  /** Creates with an answer that is not documented. */
  unexpected: string[];
}

interface Create {
  marker: string;
  notBeforeMs: number;
}

type Ending = { confirmedId: number } | 'uncertain';

const CLIENTS = 16;
/** Short, so that the outcome of an interrupted call is soon known to be unknown. */
const CALL_TIMEOUT_SECONDS = 1;
/** How long a client waits for an answer before it sends the call again, in milliseconds. */
const PATIENCE_MS = 2500;
/** Delay before a client calls again after the proxy was away, in milliseconds. */
const PAUSE_MS = 50;
/** Maximum lifetime of a proxy after its first answer, in milliseconds. */
const LIFE_MS_MAX = 3000;
/** Part of the kills that hit the proxy while it starts. */
const EARLY_KILL_SHARE = 0.1;

export async function proveIdempotency(run: IdempotencyRun): Promise<IdempotencyProof> {
  const { seed, creates, kills, folder, redisUrl, onKill } = run;
  const random = createRandom(seed);
  const storeUrl = run.storeUrl ?? locateStore(folder);
  const key = await createKey(folder, storeUrl);
  const odoo = await startHelper(new URL('./breaking-odoo.ts', import.meta.url), [String(seed)]);
  const { port: odooPort } = odoo.hello as OdooRecord;
  const port = await findServerPort();
  const proxy = new KillableProxy(folder, {
    'http.port': String(port),
    'store.url': storeUrl,
    'egress.allow': '127.0.0.1',
    'upstream.protocol': 'jsonrpc',
    // Entries that remain in Redis expire after an hour.
    ...(redisUrl === undefined
      ? {}
      : { 'idempotency.store': 'redis', 'redis.url': redisUrl, 'idempotency.keptHours': '1' }),
  });

  const waiting: Create[] = Array.from({ length: creates }, (_, index) => ({
    marker: `marker-${index}`,
    notBeforeMs: 0,
  }));
  const endings = new Map<string, Ending>();
  const unexpected: string[] = [];
  let attempts = 0;
  let isOver = false;
  let answers = 0;
  let attemptsLost = 0;
  let replayed = 0;

  /** The final result; null if the create must be sent again. */
  async function attempt(create: Create): Promise<Ending | null> {
    attempts++;
    let response: Response;
    let text: string;
    try {
      response = await fetch(`http://127.0.0.1:${port}/api/erp/execute`, {
        method: 'POST',
        headers: {
          'x-proxy-api': key,
          'content-type': 'application/json',
          'idempotency-key': create.marker,
          'x-request-timeout': String(CALL_TIMEOUT_SECONDS),
        },
        body: buildCreate(create.marker, odooPort),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      text = await response.text();
      answers++;
    } catch {
      attemptsLost++;
      await sleep(PAUSE_MS);
      return null;
    }
    const { result, error } = JSON.parse(text);
    if (typeof result === 'number') {
      if (response.headers.get('idempotency-replayed') === 'true') replayed++;
      return { confirmedId: result };
    }
    if (error?.code === -32015) return 'uncertain';
    const mayRetry = error?.data?.retryable === true || response.headers.has('retry-after');
    // After the outcome "unknown" the client asks again. Nothing is sent to Odoo, and the answer must be -32015.
    if (!mayRetry && error?.data?.outcome !== 'unknown') {
      unexpected.push(`${create.marker}: ${text}`);
      isOver = true;
    }
    create.notBeforeMs = performance.now() + 1000 * Number(response.headers.get('retry-after') ?? 0.05);
    return null;
  }

  async function runClient(): Promise<void> {
    while (endings.size < creates && !isOver) {
      const nowMs = performance.now();
      const index = waiting.findIndex(({ notBeforeMs }) => notBeforeMs <= nowMs);
      const [create] = index < 0 ? [] : waiting.splice(index, 1);
      if (create === undefined) {
        await sleep(10);
        continue;
      }
      const ending = await attempt(create);
      if (ending === null) waiting.unshift(create);
      else endings.set(create.marker, ending);
    }
  }

  /** Kills the proxy after random numbers of final answers, whose mean spreads the kills over the whole run. */
  async function killAtRandom(): Promise<void> {
    for (let killed = 0; killed < kills && !isOver; ) {
      const isEarly = random() < EARLY_KILL_SHARE;
      const share = (creates - endings.size) / (kills - killed);
      const due = endings.size + Math.ceil(random() * 2 * share);
      if (isEarly) await sleep(random() * 400);
      else {
        const before = answers;
        while (answers === before && endings.size < creates && !isOver) await sleep(1);
        const aliveMs = performance.now();
        while (endings.size < Math.min(due, creates) && performance.now() - aliveMs < LIFE_MS_MAX)
          await sleep(1);
      }
      await sleep(random() * 10);
      await proxy.kill();
      proxy.start();
      killed++;
      onKill?.(killed, endings.size);
    }
  }

  const startedMs = performance.now();
  try {
    proxy.start();
    const work = Promise.all([killAtRandom(), ...Array.from({ length: CLIENTS }, runClient)]);
    await Promise.race([work, proxy.failed]);
    const { creates: ran, fates } = (await odoo.ask('record')) as OdooRecord;
    return {
      seed,
      seconds: (performance.now() - startedMs) / 1000,
      creates,
      kills,
      keptIn: redisUrl !== undefined ? 'Redis' : storeUrl.startsWith('sqlite:') ? 'SQLite' : 'PostgreSQL',
      attempts,
      attemptsLost,
      replayed,
      fates,
      unexpected,
      ...compare(endings, ran),
    };
  } finally {
    isOver = true;
    await proxy.kill();
    await odoo.stop();
  }
}

/** Compares the answers of the clients with the records of the Odoo. */
function compare(endings: Map<string, Ending>, ran: string[]) {
  const times = new Map<string, number>();
  for (const marker of ran) times.set(marker, (times.get(marker) ?? 0) + 1);
  const found = [...endings];
  const confirmed = found.flatMap(([marker, ending]) =>
    ending === 'uncertain' ? [] : [{ marker, id: ending.confirmedId }],
  );
  const uncertain = found.flatMap(([marker, ending]) => (ending === 'uncertain' ? [marker] : []));
  return {
    confirmed: confirmed.length,
    uncertain: uncertain.length,
    uncertainRun: uncertain.filter((marker) => times.has(marker)).length,
    duplicates: [...times].flatMap(([marker, count]) => (count > 1 ? [`${marker}: ${count} times`] : [])),
    confirmedMissing: confirmed.flatMap(({ marker }) => (times.has(marker) ? [] : [marker])),
    confirmedWithOtherId: confirmed.flatMap(({ marker, id }) => (ran[id - 1] === marker ? [] : [marker])),
  };
}

function buildCreate(marker: string, odooPort: number): string {
  return JSON.stringify({
    id: 1,
    action: 'create',
    model_id: 'res.partner',
    params: [{ name: marker }],
    erp_instance: {
      url: `http://127.0.0.1:${odooPort}`,
      db: 'production',
      user_id: 2,
      api_key: '0123456789abcdef0123456789abcdef01234567',
    },
  });
}

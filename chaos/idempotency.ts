/**
 * The proof of idempotency keys: clients that retry a create until they have a final answer, a proxy that is killed again
 * and again, and an Odoo that breaks connections. At the end what the clients know is compared with what Odoo did.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startHelper } from '../bench/helper-process.ts';
import { createKey, locateStore } from '../bench/program.ts';
import { createRandom } from '../packages/server/src/limits/database/seeded-random.fixture.ts';
import type { OdooRecord } from './breaking-odoo.ts';
import { findServerPort, MortalProxy } from './mortal-proxy.ts';

export interface IdempotencyRun {
  seed: number;
  creates: number;
  kills: number;
  /** For the store and the log. */
  folder: string;
  /** A store that no other run uses; a SQLite file in the folder where it is left out. */
  storeUrl?: string;
  /** A Redis for the idempotency keys; they are in the store where it is left out. */
  redisUrl?: string;
  onKill?: (kills: number, ended: number) => void;
}

export interface IdempotencyProof {
  seed: number;
  seconds: number;
  creates: number;
  kills: number;
  keptIn: 'SQLite' | 'PostgreSQL' | 'Redis';
  /** Requests that clients sent, and of them those that found no proxy or lost it. */
  attempts: number;
  attemptsLost: number;
  /** Creates whose client was given an id; of them, in a later attempt from the store. */
  confirmed: number;
  replayed: number;
  /** Creates whose client was told -32015; of them, those that Odoo had run. */
  uncertain: number;
  uncertainRun: number;
  /** Connections to Odoo by what became of them. */
  fates: OdooRecord['fates'];
  /** What must not be. */
  duplicates: string[];
  confirmedMissing: string[];
  confirmedWithOtherId: string[];
  /** Answers that are none of the promised ones. */
  unexpected: string[];
}

interface Create {
  marker: string;
  notBeforeMs: number;
}

type Ending = { confirmedId: number } | 'uncertain';

const CLIENTS = 16;
/** Short, so that what is cut off is soon known as such. */
const CALL_TIMEOUT_SECONDS = 1;
/** So long a client waits for an answer before it sends the call again. */
const PATIENCE_MS = 2500;
/** Before it calls a proxy again that was not there. */
const PAUSE_MS = 50;
/** From its first answer on. */
const LIFE_MS_MAX = 3000;
/** One in so many kills hits the proxy while it starts. */
const EARLY_KILL_SHARE = 0.1;

export async function proveIdempotency(run: IdempotencyRun): Promise<IdempotencyProof> {
  const { seed, creates, kills, folder, redisUrl, onKill } = run;
  const random = createRandom(seed);
  const storeUrl = run.storeUrl ?? locateStore(folder);
  const key = await createKey(folder, storeUrl);
  const odoo = await startHelper(new URL('./breaking-odoo.ts', import.meta.url), [String(seed)]);
  const { port: odooPort } = odoo.hello as OdooRecord;
  const port = await findServerPort();
  const proxy = new MortalProxy(folder, {
    'http.port': String(port),
    'store.url': storeUrl,
    'egress.allow': '127.0.0.1',
    'upstream.protocol': 'jsonrpc',
    // What is left behind in a Redis is gone in an hour.
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

  /** Null where it is to be sent again. */
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
    // Whoever is told "unknown" may ask again: nothing is sent, and the answer must be -32015.
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

  /** Kills come after so many endings, on average, that they are spread over the whole run. */
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

/** What the clients know against what Odoo did. */
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

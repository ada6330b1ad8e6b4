/**
 * `npm run bench:console`: how fast the admin API answers what the console asks, with a million audit records and
 * 10,000 keys in SQLite. Prints the duration of each request, the best of several, and for how long the event loop of
 * the server was blocked meanwhile. `--records <count>` builds fewer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startSandbox } from '../packages/sandbox/src/index.ts';
import { makeCall } from '../packages/server/src/audit/audit.fixture.ts';
import { send, startProxy } from '../packages/server/test/harness.ts';

const TOKEN = 'the-admin-token-of-this-benchmark-0123456789';
const KEYS = 10_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ROUNDS = 5;
/** Records that wait to be written at once. */
const FLUSH_RECORDS = 10_000;

/** The members of one of the oldest records. */
const RARE = {
  requestId: 'rare-request',
  address: '203.0.113.9',
  instance: 'rare',
  upstream: 'https://rare.example.com',
  db: 'rare',
  method: 'rare_method',
  approval: 'rare-approval',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  httpStatus: 418,
};

const { values } = parseArgs({ options: { records: { type: 'string', default: '1000000' } } });
const RECORDS = Number(values.records);
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-lists-'));
let now = Date.now() - DAYS * DAY_MS;
const sandbox = await startSandbox({ version: 18 });
const proxy = await startProxy({
  clock: () => now,
  allow: [sandbox.url],
  settings: {
    'admin.token': TOKEN,
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'store.url': `sqlite:${join(folder, 'proxy.db')}`,
  },
});
try {
  const keys = await createKeys();
  await recordCalls(keys);
  await fillStatistics(keys);
  await measure(keys);
} finally {
  await proxy.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
}

interface MadeKey {
  id: string;
  text: string;
}

async function createKeys(): Promise<MadeKey[]> {
  const made: MadeKey[] = [];
  const policy = { instances: ['prod'], models: { 'res.partner': ['read', 'search*'], 'sale.*': ['*'] } };
  for (let count = 0; count < KEYS; count++) {
    const { key, record } = await proxy.app.keys.create({ name: `Key ${count}`, policy });
    made.push({ id: record.id, text: key });
  }
  print(`${KEYS} keys`);
  return made;
}

async function recordCalls(keys: readonly MadeKey[]): Promise<void> {
  const startedAt = now;
  for (let count = 0; count < RECORDS; count++) {
    now = startedAt + (count / RECORDS) * DAYS * DAY_MS;
    const { id } = keys[count % KEYS] as MadeKey;
    const isRare = count === 10;
    proxy.app.audit.recordCall(
      makeCall({
        requestId: `request-${count}`,
        keyId: id,
        clientId: id,
        model: isRare ? 'rare.model' : `model.${count % 40}`,
        outcome: count % 50 === 0 ? 'policy_denied' : 'ok',
        code: count % 50 === 0 ? -32_010 : null,
        rule: count % 50 === 0 ? 'models' : null,
        ...(isRare ? RARE : {}),
      }),
    );
    if (count % FLUSH_RECORDS === FLUSH_RECORDS - 1) await proxy.app.audit.flush();
  }
  await proxy.app.audit.flush();
  now = Date.now();
  print(`${RECORDS} records`);
}

/** Real calls of 300 keys fill the groups of one period. Its row is repeated for each minute and hour that is kept. */
async function fillStatistics(keys: readonly MadeKey[]): Promise<void> {
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  await ask('POST', '/instances', { name: 'prod', url: sandbox.url, db: sandbox.db, user_id, api_key });
  const call = {
    id: 1,
    model_id: 'res.partner',
    action: 'search_count',
    params: [[]],
    erp_instance: { name: 'prod' },
  };
  for (const { text } of keys.slice(0, 300)) await proxy.call(call, { 'x-proxy-api': text });
  await ask('GET', '/stats');
  const { statistics } = proxy.app.store;
  for (const [step, stepMs, count] of [
    ['minute', 60_000, 1_440],
    ['hour', 3_600_000, 720],
  ] as const) {
    const range = { step, since: now - DAY_MS, until: Number.MAX_SAFE_INTEGER, after: null, limit: 10 };
    await until(async () => (await statistics.list(range)).length > 0);
    const [row] = await statistics.list(range);
    if (row === undefined) throw new Error('no statistics were written');
    print(`a ${step} of the statistics: ${row.body.length} bytes`);
    const rows = Array.from({ length: count }, (_, index) => ({
      ...row,
      startsAt: row.startsAt - (index + 1) * stepMs,
    }));
    for (let at = 0; at < rows.length; at += 100) await statistics.put(rows.slice(at, at + 100));
  }
  const since = new Date(now - 29.9 * DAY_MS).toISOString();
  const { total, groups } = await ask('GET', `/stats?since=${since}&by=key&limit=100`);
  print(`statistics of 30 days: ${total.calls} calls, ${groups.length} keys or more`);
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 300 && !(await isDone()); attempt++)
    await new Promise((resolve) => setTimeout(resolve, 200));
}

async function measure(keys: readonly MadeKey[]): Promise<void> {
  const at = (days: number) => new Date(now - days * DAY_MS).toISOString();
  const id = keys[7]?.id ?? '';
  const ids = keys.slice(0, 100).map((key) => key.id);
  await measureOne('calls, newest', '/audit?limit=100');
  await measureOne('calls of a day', `/audit?limit=100&since=${at(1)}`);
  await measureOne('calls of a day, 20 days ago', `/audit?limit=100&since=${at(21)}&until=${at(20)}`);
  await measureOne('errors only', '/audit?limit=100&errors_only=true');
  await measureOne('one model of 40', '/audit?limit=100&model=model.3');
  await measureOne('one key of 10,000', `/audit?limit=100&key_id=${id}`);
  await measureOne('one client of 10,000', `/audit?limit=100&client_id=${id}`);
  for (const [name, value] of Object.entries({
    kind: 'admin',
    approval: 'rare-approval',
    via: 'console',
    instance: 'rare',
    model: 'rare.model',
    action: 'rare_method',
    outcome: 'internal',
    actor: 'nobody',
    request_id: 'rare-request',
    trace_id: RARE.traceId,
    address: '203.0.113.9',
    upstream: RARE.upstream,
    db: 'rare',
    rule: 'limit_max',
    code: '-32603',
    http_status: '418',
  }))
    await measureOne(
      `one request for ${name} without a match`,
      `/audit?limit=100&${name}=${encodeURIComponent(value)}`,
    );
  const pages = await walkTo('/audit?limit=500', 200);
  await measureOne(`calls, page ${pages.count}`, pages.path);
  await measureOne('one record', '/audit/12345');
  await measureOne('keys, first page', '/keys');
  await measureOne('keys, search without a match', '/keys?search=nothing');
  await measureOne('keys, search of one', '/keys?search=Key%209999');
  await measureOne('keys, active', '/keys?state=active');
  await measureOne('keys, revoked: none', '/keys?state=revoked');
  const deep = await walkTo('/keys?limit=100', 95);
  await measureOne(`keys, page ${deep.count}`, deep.path);
  await measureOne('names of 100 keys', `/keys/names?ids=${ids}`);
  await measureOne('overview: last hour', `/stats?since=${at(1 / 24)}`);
  await measureOne('overview: day by minute', `/stats?since=${at(0.99)}&step=minute`);
  await measureOne('overview: 30 days', `/stats?since=${at(29.9)}`);
  for (const by of ['instance', 'key', 'model', 'action'])
    await measureOne(`overview: 30 days by ${by}`, `/stats?since=${at(29.9)}&by=${by}`);
  await measureOne('overview: attention', '/attention');
  await measureOne('overview: status', '/status');
}

/** The path of a later page of a list. */
async function walkTo(path: string, count: number): Promise<{ path: string; count: number }> {
  let cursor: string | null = null;
  let page = 1;
  for (; page < count; page++) {
    const { next } = await ask('GET', cursor === null ? path : `${path}&cursor=${cursor}`);
    if (next === null) break;
    cursor = next;
  }
  return { path: cursor === null ? path : `${path}&cursor=${cursor}`, count: page };
}

async function measureOne(name: string, path: string): Promise<void> {
  const durations: number[] = [];
  const blocked: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
    const startedMs = performance.now();
    await ask('GET', path);
    durations.push(performance.now() - startedMs);
    histogram.disable();
    blocked.push(histogram.max / 1e6);
  }
  const best = (values: number[]) =>
    Math.min(...values)
      .toFixed(0)
      .padStart(6);
  print(`${best(durations)} ms ${best(blocked)} ms blocked  ${name}`);
}

// biome-ignore lint/suspicious/noExplicitAny: the members of answers are not of interest here
async function ask(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await send(`${proxy.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.body}`);
  return JSON.parse(answer.body.toString());
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

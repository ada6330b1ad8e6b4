/**
 * Drives the clients for TypeScript and for Python, blocking and with asyncio, by the same cases, and compares their
 * outcomes: results, errors, and the requests that reached Odoo or the server in place of the proxy.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, isErpProxyError, type Job } from '../../client/src/index.ts';
import { hasCommand, type Shop, startShop } from '../../server/test/examples/shop.ts';
import { startPair } from '../../server/test/pair.ts';
import {
  answerLikeOdoo,
  printResult,
  ROLLED_BACK,
  type Script,
  startUpstream,
  type UpstreamRequest,
} from '../../server/test/scripted-upstream.ts';
import { type Case, type Client, FRONT_CASES, ODOO_CASES, SANDBOX_CASES, type Step } from './cases.ts';
import { type PythonDriver, startDriver } from './python.ts';

const API_KEY = 'upstream-key-0123456789';
const DRIVERS = ['typescript', 'python', 'python with asyncio'] as const;
type Driver = (typeof DRIVERS)[number];

interface Ran {
  outcomes: unknown[];
  requests: unknown;
}

const isMissing = !hasCommand('python3');
let shop: Shop;
let blocking: PythonDriver;
let async: PythonDriver;
beforeAll(async () => {
  shop = await startShop();
  if (isMissing) return;
  const drive = fileURLToPath(new URL('drive.py', import.meta.url));
  blocking = startDriver([drive]);
  async = startDriver([drive, 'async']);
});
afterAll(async () => {
  blocking?.close();
  async?.close();
  await shop.close();
});

describe.skipIf(isMissing)('clients behave alike (skipped where python3 is not installed)', () => {
  test.each(SANDBOX_CASES)('on a sandbox: $name', (each) => compare(each, runOnSandbox));
  test.each(ODOO_CASES)('with an Odoo that fails: $name', (each) => compare(each, runOnOdoo));
  test.each(FRONT_CASES)('with a server that is no proxy: $name', (each) => compare(each, runOnFront));
});

async function compare<Kind extends Case>(
  each: Kind,
  run: (each: Kind, driver: Driver) => Promise<Ran>,
): Promise<void> {
  const rans: Record<string, Ran> = {};
  for (const driver of DRIVERS) rans[driver] = hideChance(await run(each, driver));
  const { typescript: first, ...others } = rans;
  const { outcomes = {}, requests } = each.expect ?? {};
  for (const [at, outcome] of Object.entries(outcomes))
    expect(first?.outcomes[Number(at)]).toMatchObject(outcome);
  if (typeof requests === 'number') expect(first?.requests).toBe(requests);
  else if (requests !== undefined) expect(first?.requests).toMatchObject(requests);
  for (const [name, other] of Object.entries(others)) expect({ name, ...other }).toEqual({ name, ...first });
}

async function runOnSandbox(each: (typeof SANDBOX_CASES)[number], driver: Driver): Promise<Ran> {
  shop.odoo.reset();
  const policy = each.policy && { instances: ['prod'], ...each.policy };
  const { key } = await shop.proxy.app.keys.create({ name: randomUUID(), ...(policy ? { policy } : {}) });
  const outcomes = await drive(
    driver,
    { url: shop.proxy.url, key, instance: 'prod', ...each.client },
    each.steps,
  );
  return { outcomes, requests: null };
}

async function runOnOdoo(each: (typeof ODOO_CASES)[number], driver: Driver): Promise<Ran> {
  const script: Script = (socket, _, index) => {
    const answer = each.odoo[Math.min(index, each.odoo.length - 1)]!;
    if (answer === 'reset') socket.resetAndDestroy();
    else if (answer === 'rolled back') answerLikeOdoo(socket, ROLLED_BACK);
    else if ('result' in answer) answerLikeOdoo(socket, printResult(JSON.stringify(answer.result)));
    else socket.end(answer.http);
  };
  const pair = await startPair(script, { settings: { 'upstream.retries': '0' } });
  try {
    const instance = { url: pair.upstream.url, db: 'prod', user_id: 2, api_key: API_KEY };
    const client = { url: pair.proxy.url, key: pair.proxy.key, instance, ...each.client };
    const outcomes = await drive(driver, client, each.steps);
    return { outcomes, requests: pair.upstream.requests.length };
  } finally {
    await pair.close();
  }
}

async function runOnFront(each: (typeof FRONT_CASES)[number], driver: Driver): Promise<Ran> {
  const front = await startUpstream((socket, _, index) => {
    socket.end(each.answers[Math.min(index, each.answers.length - 1)] as string);
  });
  try {
    const client = { url: `${front.url}/proxy/`, key: 'ep_test', instance: 'prod', ...each.client };
    const outcomes = await drive(driver, client, each.steps);
    return {
      outcomes: replaceDeep(outcomes, front.url, '<front>'),
      requests: front.requests.map(describeRequest),
    };
  } finally {
    await front.close();
  }
}

/** What must be the same in the requests of all clients. */
function describeRequest({ head, body }: UpstreamRequest) {
  const read = (name: string) => new RegExp(`^${name}: *(.*?)\r?$`, 'im').exec(head)?.[1] ?? null;
  const attempt = read('x-request-id')?.replace(/^[\w-]{36}/, '') ?? '';
  const isRetry = attempt !== '';
  return {
    path: head.split(' ')[1],
    key: read('x-proxy-api'),
    type: read('content-type'),
    // A retry has what the wait has left.
    timeout: isRetry ? null : read('x-request-timeout'),
    prefer: read('prefer'),
    call: read('x-erp-call'),
    attempt,
    idempotencyKey: read('idempotency-key'),
    body: body.toString(),
  };
}

function drive(driver: Driver, client: Client, steps: readonly Step[]): Promise<unknown[]> {
  if (driver === 'typescript') return runTypescript(client, steps);
  return (driver === 'python' ? blocking : async).run({ client, steps }) as Promise<unknown[]>;
}

async function runTypescript(options: Client, steps: readonly Step[]): Promise<unknown[]> {
  const outcomes: { result?: unknown; error?: unknown }[] = [];
  const client = createClient(options);
  for (const step of steps) {
    try {
      const { model, job, do: method, args = [], query, options = {} } = insertResults(step, outcomes);
      const target = job ? findJob(client, job) : model === undefined ? client : client.model(model);
      const call = (target as unknown as Record<string, (...args: unknown[]) => unknown>)[method]!;
      const given = method === 'upload' ? [args[0], new Blob([String(args[1])])] : args;
      outcomes.push({ result: await collect(await call(...given, ...(query ? [query] : []), options)) });
    } catch (error) {
      outcomes.push({ error: describeError(error) });
    }
  }
  // As the other clients print them.
  return JSON.parse(JSON.stringify(outcomes));
}

function findJob(client: ReturnType<typeof createClient>, [id, kind]: NonNullable<Step['job']>) {
  return client.job(id, kind && 'response');
}

async function collect(result: unknown): Promise<unknown> {
  if (result instanceof Response) {
    const [, name = 'file'] =
      /filename\*=UTF-8''([^;]+)/.exec(result.headers.get('content-disposition') ?? '') ?? [];
    return {
      name: decodeURIComponent(name),
      type: result.headers.get('content-type'),
      content: Buffer.from(await result.arrayBuffer()).toString('base64'),
    };
  }
  if (isJob(result)) return result.id;
  const isIterator = typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
  const value = isIterator ? await Array.fromAsync(result as AsyncIterable<unknown>) : result;
  if (!Array.isArray(value)) return value;
  // The pieces of a file may differ.
  if (value.length > 0 && value.every((piece) => typeof piece === 'string')) return value.join('');
  return value.map((one) => {
    if (one?.status === 'fulfilled') return one.value;
    if (one?.status === 'rejected') return { error: describeError(one.reason) };
    return isErpProxyError(one?.error) ? { ...one, error: describeError(one.error) } : one;
  });
}

function isJob(result: unknown): result is Job<unknown> {
  return typeof result === 'object' && result !== null && 'done' in result;
}

function describeError(error: unknown) {
  if (!isErpProxyError(error)) throw error;
  const { type, message, code, retryable, outcome = null, status, retryAfter = null, nearest, data } = error;
  const approval = error.approval ?? null;
  const hasKey = error.idempotencyKey !== undefined;
  const hasRequestId = error.requestId !== undefined;
  return {
    ...{ type, message, code, retryable, outcome, status, retryAfter, hasKey, hasRequestId },
    ...{ approval, nearest, data },
  };
}

/** `$0` stands for the result of the first step. */
function insertResults(step: Step, outcomes: readonly { result?: unknown }[]): Step {
  const insert = (value: unknown): unknown => {
    const at = typeof value === 'string' ? /^\$(\d+)$/.exec(value)?.[1] : undefined;
    if (at !== undefined) return outcomes[Number(at)]?.result;
    if (Array.isArray(value)) return value.map(insert);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, insert(each)]));
  };
  return insert(step) as Step;
}

/**
 * Replaces what differs from run to run or by language: times, random keys, cursors, the unit of time limits, and
 * causes of failures in words of a runtime.
 */
function hideChance(ran: Ran): Ran {
  const text = JSON.stringify(ran)
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>')
    .replaceAll(/"c1\.[\w.-]+"/g, '"<cursor>"')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/\b[0-9a-f]{24}\b/g, '<approval>')
    .replaceAll('of milliseconds', 'of seconds')
    .replaceAll(/No answer from (\S+): [^"]*/g, 'No answer from $1');
  return JSON.parse(text) as Ran;
}

function replaceDeep(value: unknown[], from: string, to: string): unknown[] {
  return JSON.parse(JSON.stringify(value).replaceAll(from, to));
}

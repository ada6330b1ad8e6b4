/**
 * Tests the bounds of exports that run at once: random sequences of exports that begin and end in any way, over the
 * route and real connections. On a failure fast-check prints the seed.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, send, startProxy } from '../harness.ts';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import {
  NO_ACCESS,
  openExport,
  type PageCall,
  printPage,
  printRecord,
  startTableStage,
} from './export-stage.ts';

const CLIENT_MAX = 2;
const PROCESS_MAX = 4;

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const), client: fc.nat(2) }) },
  fc.record({
    kind: fc.constantFrom('end', 'leave', 'hang_up', 'garbage', 'fault'),
    at: fc.nat(),
  }),
  fc.record({ kind: fc.constant('bad_body' as const), client: fc.nat(2) }),
);

interface Running {
  client: number;
  /** The connection on which Odoo got the request for the export's second page, and has not answered it. */
  socket: Socket;
  call: PageCall;
  response: IncomingMessage;
}

/** Starts a stage whose second pages wait until a test answers them. */
async function startStage() {
  const held = new Map<number, { socket: Socket; call: PageCall }>();
  const stage = await startTableStage({
    count: 1000,
    settings: {
      'data.requestsMax': String(PROCESS_MAX),
      'data.clientRequestsMax': String(CLIENT_MAX),
      // A failure of the upstream must not keep other exports waiting.
      'upstream.retries': '0',
    },
    script: async (socket, call) => {
      if (call.after === 0) return false;
      held.set(call.domain.at(-1)[2], { socket, call });
      return true;
    },
  });
  const { proxy } = stage;
  const keys = await Promise.all(
    [0, 1, 2].map(async () => (await proxy.app.keys.create({ name: 'app' })).key),
  );
  return { ...stage, held, keys };
}

async function readGauge(url: string, route = 'export'): Promise<number> {
  const metrics = (await send(`${url}/metrics`)).body.toString();
  return Number(new RegExp(`^erp_proxy_data_requests\\{route="${route}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
}

test('never more exports at once than allowed, and each end makes room', async () => {
  const { proxy, body, held, keys } = await startStage();
  let exports = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const running: Running[] = [];
      const open = (client: number, changes: object = {}) =>
        openExport(
          proxy,
          { ...body, ...changes },
          { 'x-proxy-api': keys[client]!, 'x-request-timeout': '120' },
        );
      for (const one of steps) {
        if (one.kind === 'begin') {
          const mine = running.filter(({ client }) => client === one.client).length;
          // Each export has its own database, because pages of one database wait for each other.
          const number = ++exports;
          const response = await open(one.client, {
            domain: [['number', '=', number]],
            erp_instance: { ...(body['erp_instance'] as object), db: `db${number}` },
          });
          response.on('error', () => {});
          if (mine === CLIENT_MAX) expect(await describe(response)).toEqual(LIMITED);
          else if (running.length === PROCESS_MAX) expect(await describe(response)).toEqual(FULL);
          else {
            expect(response.statusCode).toBe(200);
            await expect.poll(() => held.has(number)).toBe(true);
            response.resume();
            running.push({ client: one.client, response, ...held.get(number)! });
          }
        } else if (one.kind === 'bad_body') {
          const response = await open(one.client, { fields: 5 });
          response.resume();
          expect([400, 429, 503]).toContain(response.statusCode);
        } else {
          const [ended] = running.splice(one.at % Math.max(1, running.length), 1);
          if (ended !== undefined) end(ended, one.kind);
        }
        await expect.poll(() => readGauge(proxy.url)).toBe(running.length);
      }
      for (const one of running) end(one, 'leave');
      await expect.poll(() => readGauge(proxy.url)).toBe(0);
    }),
    { numRuns: countCases(20), endOnFailure: true },
  );
});

function end({ socket, call, response }: Running, how: string): void {
  if (how === 'leave') response.destroy();
  else if (how === 'hang_up') {
    // The caller leaves too, because the proxy would otherwise try to read the page again for some time.
    socket.destroy();
    response.destroy();
  } else if (how === 'garbage') answerLikeOdoo(socket, printResult('[{"no": "id"}]'));
  else if (how === 'fault') answerLikeOdoo(socket, NO_ACCESS);
  else answerLikeOdoo(socket, printPage({ ...call, limit: 0 }, 1000, printRecord));
}

async function describe(response: IncomingMessage) {
  const { text } = await import('node:stream/consumers');
  const { error } = JSON.parse(await text(response));
  return {
    status: response.statusCode,
    type: error.data.type,
    outcome: error.data.outcome,
    retryAfter: response.headers['retry-after'],
    isRetryable: error.data.retryable,
  };
}

const LIMITED = { status: 429, type: 'rate_limited', outcome: undefined, retryAfter: '5', isRetryable: true };
const FULL = { status: 503, type: 'overloaded', outcome: 'not_sent', retryAfter: '5', isRetryable: true };

test.each(['export', 'changes'])('a time-out makes room: %s', async (path) => {
  const upstream = closeAfterTest(await startUpstream(() => {}));
  const proxy = closeAfterTest(
    await startProxy({ allow: [upstream.url], settings: { 'data.requestsMax': '1' } }),
  );
  const ask = () => askRoute(proxy, path, describeCall(upstream.url, path));
  const late = ask();
  await expect.poll(() => readGauge(proxy.url, path)).toBe(1);
  expect(await ask()).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  expect(JSON.parse((await late).body.toString()).error.data.type).toBe('upstream_timeout');
  await expect.poll(() => readGauge(proxy.url, path)).toBe(0);
});

test('the keys of a client share its bound; exports and changes have one each', async () => {
  const upstream = closeAfterTest(await startUpstream(() => {}));
  const proxy = closeAfterTest(
    await startProxy({ allow: [upstream.url], settings: { 'data.clientRequestsMax': '1' } }),
  );
  const { key, record } = await proxy.app.keys.create({ name: 'app' });
  const rotated = await proxy.app.keys.rotate(record.id, { overlapMs: 60_000 });
  if (typeof rotated === 'string' || !('key' in rotated)) throw new Error('not rotated');
  const ask = (path: string, by: string) =>
    askRoute({ ...proxy, key: by }, path, describeCall(upstream.url, path));
  const running = ask('export', key);
  await expect.poll(() => readGauge(proxy.url)).toBe(1);
  expect((await ask('export', rotated.key)).status).toBe(429);
  const changes = ask('changes', rotated.key);
  await expect.poll(() => readGauge(proxy.url, 'changes')).toBe(1);
  await Promise.all([running, changes]);
});

function describeCall(url: string, path: string): object {
  const erp_instance = { url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' };
  return {
    model_id: 'res.partner',
    fields: ['name'],
    erp_instance,
    ...(path === 'changes' ? { since: null } : {}),
  };
}

function askRoute(
  { url, key }: { url: string; key: string },
  path: string,
  body: object,
): Promise<HttpAnswer> {
  return send(`${url}/api/erp/${path}`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json', 'x-request-timeout': '1' },
    body: JSON.stringify(body),
  });
}

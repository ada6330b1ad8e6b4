/** Tests that generated requests cause no crash, internal error or hang, and get only errors of the error table. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { countCases } from '../random-cases.ts';
import { readInFlight } from '../read-in-flight.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { takeAnswer, unpack } from '../take-answer.ts';
import { pause } from '../time.ts';
import { findDefect } from './answer-check.ts';
import { openConnection } from './connection.ts';
import { createGenerator, type Generator, type HostileRequest } from './hostile-requests.ts';

const REQUESTS = countCases(200_000);
const CONNECTIONS = 6;
/** Pipelined requests per connection. */
const PIPELINED = 32;
const seed = Number(process.env['ERP_PROXY_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

/** The page of the console, with which the proxy answers some paths. */
const PAGE = Buffer.from('<!doctype html><title>Console</title>');
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-page-'));
writeFileSync(join(folder, 'index.html'), PAGE);

let upstream: ScriptedUpstream;
let proxy: RunningProxy;
beforeAll(async () => {
  upstream = await startUpstream((socket) => answerLikeOdoo(socket, printResult('[{"id": 1}]')));
  proxy = await startProxy({
    allow: [upstream.url],
    settings: { 'http.trustProxy': '127.0.0.1' },
    consoleFolder: folder,
  });
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

test(`survives ${REQUESTS} hostile requests (ERP_PROXY_TEST_SEED=${seed})`, async () => {
  const generator = createGenerator(seed, { upstreamUrl: upstream.url, key: proxy.key });
  const tally = new Map<number, number>();
  let left = REQUESTS;
  const work = async () => {
    while (left > 0) {
      const count = Math.min(left, PIPELINED);
      left -= count;
      await sendRound(generator, count, tally);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));

  expect(proxy.log.filter(({ level }) => level === 'error')).toEqual([]);
  expect(tally.get(500)).toBeUndefined();
  // The generator must reach every step, otherwise the run would prove little.
  for (const status of [200, 400, 401, 403, 404, 405, 415])
    expect(tally.get(status), `${status}`).toBeGreaterThan(100);
  const { json } = await proxy.call(makeCall(upstream.url));
  expect(json.result).toEqual([{ id: 1 }]);
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
});

/** Pipelines requests on one connection. Each request that is invalid HTTP gets a connection of its own. */
async function sendRound(generator: Generator, count: number, tally: Map<number, number>): Promise<void> {
  const requests = Array.from({ length: count }, () => generator.next());
  const framed = requests.filter(({ isFramed }) => isFramed);
  await Promise.all([
    sendFramed(framed, tally),
    ...requests.filter(({ isFramed }) => !isFramed).map((request) => sendBroken(request, tally)),
  ]);
}

async function sendFramed(requests: HostileRequest[], tally: Map<number, number>): Promise<void> {
  let connection = openConnection(proxy.url, Buffer.concat(requests.map(({ bytes }) => bytes)));
  for (let index = 0; index < requests.length; index++) {
    const answer = await connection.next();
    if (answer === null) throw new Error(`no answer to ${show(requests[index])}`);
    check(requests[index], answer, tally);
    if (answer.headers['connection'] === 'close' && index + 1 < requests.length) {
      // Requests after a refused body must be sent again, as any client does (RFC 9112 section 9.3.2).
      connection.socket.destroy();
      connection = openConnection(
        proxy.url,
        Buffer.concat(requests.slice(index + 1).map(({ bytes }) => bytes)),
      );
    }
  }
  expect(connection.rest.length, 'bytes after the last answer').toBe(0);
  connection.socket.destroy();
}

/** Accepts any number of answers, but each must be valid. */
async function sendBroken(request: HostileRequest, tally: Map<number, number>): Promise<void> {
  const connection = openConnection(proxy.url, request.bytes);
  for (;;) {
    const next = connection.next();
    const givenUp = pause(INCOMPLETE_REQUEST_MS).then(() => (connection.rest.length > 0 ? next : null));
    const answer = await Promise.race([next, givenUp]);
    if (answer === null) break;
    if (answer.status !== 100) check(request, answer, tally);
    if (answer.headers['connection'] === 'close') break;
  }
  const last = takeAnswer(connection.rest);
  if (last !== null && last.headers['content-length'] === undefined) check(request, last, tally);
  else if (connection.rest.length > 0) throw new Error(`an incomplete answer to ${show(request)}`);
  connection.socket.destroy();
}

/** An incomplete request is answered only after its time limit, so the client leaves earlier. */
const INCOMPLETE_REQUEST_MS = 30;

function check(
  request: HostileRequest | undefined,
  { status, headers, body }: { status: number; headers: Record<string, string>; body: Buffer },
  tally: Map<number, number>,
): void {
  tally.set(status, (tally.get(status) ?? 0) + 1);
  const plain = unpack(headers['content-encoding'], body);
  const isPage =
    (status === 200 && headers['content-type']?.startsWith('text/html') && plain.equals(PAGE)) ||
    (status === 304 && headers['etag'] !== undefined);
  const defect = isPage ? null : findDefect(status, headers['content-type'], plain);
  if (defect !== null) throw new Error(`${defect}: ${status} ${body} to ${show(request)}`);
}

function show(request: HostileRequest | undefined): string {
  return JSON.stringify(request?.bytes.toString('latin1').slice(0, 1500));
}

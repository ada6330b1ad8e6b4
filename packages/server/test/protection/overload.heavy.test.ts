/**
 * Tests the real program with more requests than the processor can handle. The rules of the load shedder have their own
 * tests.
 */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { makeFolder, runProgram, startServer } from '../process/program.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';

/** Half of the callers use each route. */
const PATHS = ['/api/erp/execute', '/api/odoo/execute'];
/** Enough callers that the last one waits far longer than the load shedder allows. */
const CALLERS = 2000;
/**
 * Number of ids in the bodies for the second route. Reading them takes the proxy far longer than sending them takes
 * this process, which plays the callers and Odoo and would otherwise be the slower one.
 */
const IDS = 8000;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Sum of the refused requests in the log. */
function sumLogged(log: string): number {
  const lines = [...log.matchAll(/"refused":(\d+),"msg":"overloaded"/g)];
  return lines.reduce((sum, [, count]) => sum + Number(count), 0);
}

interface Answer {
  status: number;
  head: string;
  body: string;
}

let isRunning = true;

/** Sends the request again after each answer, while `isRunning`. */
class Caller {
  readonly answers: Answer[] = [];
  isWaiting = true;
  readonly #socket: Socket;
  #text = '';

  constructor(port: number, request: string) {
    this.#socket = connect(port, '127.0.0.1', () => this.#socket.write(request));
    this.#socket.on('error', () => {});
    this.#socket.on('data', (bytes) => {
      this.#text += bytes.toString('latin1');
      const headEnd = this.#text.indexOf('\r\n\r\n') + 4;
      const [, length] = /content-length: (\d+)/i.exec(this.#text) ?? [];
      if (length === undefined || this.#text.length < headEnd + Number(length)) return;
      const [head, body] = [this.#text.slice(0, headEnd), this.#text.slice(headEnd)];
      this.answers.push({ status: Number(head.slice(9, 12)), head, body });
      this.#text = '';
      this.isWaiting = isRunning;
      if (isRunning) this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

test('refuses excess requests, admits operators, and serves all requests again afterwards', {}, async () => {
  const folder = makeFolder();
  const created = await runProgram(['keys', 'create', '--json'], { folder });
  const { key } = JSON.parse(created.stdout) as { key: string };
  const upstream = await startUpstream(answerTrue);
  open.push(upstream);
  const token = 'an-admin-token-of-thirty-two-characters';
  const server = await startServer(
    [`--egress.allow=${upstream.url}`, '--upstream.protocol=jsonrpc', `--admin.token=${token}`],
    { folder },
  );
  const body = printCall('', { erp_instance: printInstance(upstream.url) });
  const headers = { 'x-proxy-api': key, 'content-type': 'application/json' };
  const ids = Array.from({ length: IDS }, (_, index) => 10_000 + index);
  const long = printCall('', { erp_instance: printInstance(upstream.url), params: `[[${ids}]]` });
  const request = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${key}\r\ncontent-type: application/json\r\nx-request-id: mine\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const requests = [request(PATHS[0]!, body), request(PATHS[1]!, long)];
  const { port } = new URL(server.url);
  const callers = Array.from(
    { length: CALLERS },
    (_, index) => new Caller(Number(port), requests[index % 2]!),
  );
  open.push(...callers);
  const collect = (text: string) =>
    callers.flatMap(({ answers }) => answers.filter(({ body: answered }) => answered.includes(text)));
  // Admitted calls may also be refused because the upstream, too, gets little processor time.
  const collectRefused = () => collect('more requests than it can serve');
  await expect.poll(() => collectRefused().length).toBeGreaterThan(100);

  // These routes answer during the overload.
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await send(`${server.url}${path}`)).status).toBe(200);
  }
  const status = await send(`${server.url}/admin/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(status.status).toBe(200);
  const before = collect('"result":true').length;
  await expect.poll(() => collect('"result":true').length).toBeGreaterThan(before);

  const refusedOf = (index: number) =>
    callers.flatMap(({ answers }, at) =>
      at % 2 === index ? answers.filter(({ body }) => body.includes('more requests than it can serve')) : [],
    );
  for (const index of PATHS.keys()) {
    await expect.poll(() => refusedOf(index).length).toBeGreaterThan(0);
    const { head, body: text } = refusedOf(index)[0] as Answer;
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    expect(head).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(head).toMatch(/\r\nx-request-id: mine\r\n/i);
    expect(head).not.toMatch(/\r\nconnection: close\r\n/i);
    const { id, error } = JSON.parse(text);
    expect(id).toBeNull();
    expect(error).toMatchObject({
      code: -32013,
      data: { type: 'overloaded', retryable: true, outcome: 'not_sent' },
    });
  }

  isRunning = false;
  // Each caller has received the answer to its last request, on its only connection.
  await expect.poll(() => callers.filter(({ isWaiting }) => isWaiting).length).toBe(0);
  const calls = Array.from({ length: 20 }, () =>
    send(`${server.url}/api/erp/execute`, { method: 'POST', headers, body }),
  );
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  const metrics = (await send(`${server.url}/metrics`)).body.toString();
  const [, counted] = /erp_proxy_refused_requests_total\{outcome="overloaded"\} (\d+)/.exec(metrics) ?? [];
  expect(Number(counted)).toBe(collectRefused().length);
  await expect.poll(() => sumLogged(server.stdout)).toBe(collectRefused().length);
});

/** More requests than the processor bears: the real program under a short flood. What is refused when has its own test, in simulated time. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { printCall, printInstance } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { makeFolder, runProgram, startServer } from '../process/program.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';

/** Half of the callers take one route, half the other. */
const PATHS = ['/api/erp/execute', '/api/odoo/execute'];
/** So many that the last of them waits far longer than anyone may for long. */
const CALLERS = 2000;
const PATIENT = { timeout: 60_000, interval: 50 };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** What the lines of the log say together. */
function sumLogged(log: string): number {
  const lines = [...log.matchAll(/"refused":(\d+),"msg":"overloaded"/g)];
  return lines.reduce((sum, [, count]) => sum + Number(count), 0);
}

interface Answer {
  status: number;
  head: string;
  body: string;
}

let isGoing = true;

/** Sends the request again as soon as it is answered, while that goes on. */
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
      this.isWaiting = isGoing;
      if (isGoing) this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

test('refuses what is too much, shows operators in, and serves all again afterwards', {
  timeout: 120_000,
}, async () => {
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
  const request = (path: string, more = '') =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-proxy-api: ${key}\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
  const { port } = new URL(server.url);
  const callers = Array.from(
    { length: CALLERS },
    (_, index) => new Caller(Number(port), request(PATHS[index % 2] as string, 'x-request-id: mine\r\n')),
  );
  open.push(...callers);
  const collect = (text: string) =>
    callers.flatMap(({ answers }) => answers.filter(({ body: answered }) => answered.includes(text)));
  // Others may have been let in, and then be refused for the upstream, which has little of the processor too.
  const collectRefused = () => collect('more requests than it can serve');
  await expect.poll(() => collectRefused().length, PATIENT).toBeGreaterThan(100);

  // While it lasts.
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await send(`${server.url}${path}`)).status).toBe(200);
  }
  const status = await send(`${server.url}/admin/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(status.status).toBe(200);
  const before = collect('"result":true').length;
  await expect.poll(() => collect('"result":true').length, PATIENT).toBeGreaterThan(before);

  const refusedOf = (index: number) =>
    callers.flatMap(({ answers }, at) =>
      at % 2 === index ? answers.filter(({ body }) => body.includes('more requests than it can serve')) : [],
    );
  for (const index of PATHS.keys()) {
    await expect.poll(() => refusedOf(index).length, PATIENT).toBeGreaterThan(0);
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

  isGoing = false;
  // Each caller has the answer to its last request, on the connection that it has had from the start.
  await expect.poll(() => callers.filter(({ isWaiting }) => isWaiting).length, PATIENT).toBe(0);
  const calls = Array.from({ length: 20 }, () =>
    send(`${server.url}/api/erp/execute`, { method: 'POST', headers, body }),
  );
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  const metrics = (await send(`${server.url}/metrics`)).body.toString();
  const [, counted] = /erp_proxy_refused_requests_total\{outcome="overloaded"\} (\d+)/.exec(metrics) ?? [];
  expect(Number(counted)).toBe(collectRefused().length);
  await expect.poll(() => sumLogged(server.stdout), PATIENT).toBe(collectRefused().length);
});

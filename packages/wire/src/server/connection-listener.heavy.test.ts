/** Requests on real connections, plain or parsed by Node's HTTP: which are answered or refused, and in which order. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Denial, type Exchange, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import {
  BodyBudget,
  BodyCollector,
  ManualLoadShedder,
  NodeExchange,
  OverloadAnswer,
  PlainExchange,
} from '@erp-proxy/http/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { type TakenAnswer, takeAnswer } from '../../../server/test/take-answer.ts';
import {
  ENDLESS_MS,
  MOMENT_MS,
  passTurns,
  pause,
  pauseAtRandom,
  runLater,
} from '../../../server/test/time.ts';
import { ConnectionListener } from './connection-listener.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

const CALL = '/api/erp/execute';
const MIB = 1024 ** 2;
/** For what happens often, or soon after something else. */
const TICK_MS = 1;
/** A time limit that ends within a test. What must be done before it takes a few turns of the event loop. */
const SHORT_TIMEOUT_MS = 500;
const LONGER_THAN_TIMEOUT_MS = 3 * SHORT_TIMEOUT_MS;

const SETTINGS = {
  bodyBytesMax: 1_000_000,
  bodyBudget: new BodyBudget(10_000_000),
  address: '127.0.0.1',
};

const collectBody = (bytes: number) => new BodyCollector(bytes);

/** Starts a server that answers a call with its body, and any other path with the path. */
async function startServer({
  idleTimeoutMs = ENDLESS_MS,
  requestTimeoutMs = ENDLESS_MS,
  headersTimeout = 60_000,
  bodyBytesMax = SETTINGS.bodyBytesMax,
} = {}) {
  const gate = Promise.withResolvers<void>();
  const manual = new ManualLoadShedder();
  const { loadShedder } = manual;
  const overloadAnswer = new OverloadAnswer(OWN_DIALECT);
  let running = 0;
  let served = 0;
  const serve = async (exchange: Exchange) => {
    running++;
    served++;
    await answerCall(exchange, gate.promise);
    exchange.releaseBody();
    await exchange.waitUntilLeft();
    running--;
  };
  const times = {
    keepAliveTimeout: idleTimeoutMs,
    headersTimeout,
    connectionsCheckingInterval: headersTimeout / 2,
  };
  const server = createServer(times, (request, response) => {
    if (request.url !== CALL) {
      request.resume().on('end', () => answerPath(request, response));
      return;
    }
    loadShedder.submit({
      get hasCallerLeft() {
        return response.destroyed;
      },
      admit: () => void serve(new NodeExchange(request, response, SETTINGS)),
      refuse: () => overloadAnswer.send(request, response),
    });
  });
  const listener = new ConnectionListener(server, {
    admission: loadShedder,
    collectBody,
    idleTimeoutMs,
    requestTimeoutMs,
  });
  listener.serve(CALL, {
    serve: (call) => void serve(new PlainExchange(call, { ...SETTINGS, bodyBytesMax })),
    printRefusal: (headers, keepAlive) => overloadAnswer.print(headers, keepAlive),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const counts = {
    /** Calls whose answer was not sent yet. */
    get running() {
      return running;
    },
    /** Calls that were admitted. */
    get served() {
      return served;
    },
  };
  return { manual, server, listener, counts, openGate: gate.resolve, dial: () => new Client(port) };
}

/** Answers with the body, in pieces if `x-pieces` is sent. `x-gate` names what waits for the gate. */
async function answerCall(exchange: Exchange, gate: Promise<void>): Promise<void> {
  const left = new AbortController();
  exchange.onCallerLeft(() => left.abort());
  await pause(Number(exchange.header('x-delay-before-body') ?? 0));
  const body = await exchange.readBody(left.signal);
  const { writer } = exchange;
  if (body instanceof Denial) {
    writer.sendWhole(400, { ...body.more.headers }, Buffer.from(body.message));
    return;
  }
  if (exchange.header('x-gate') === 'answer') await gate;
  await pause(Number(exchange.header('x-delay') ?? 0));
  const headers = { 'x-served': 'yes' };
  const pieces = exchange.header('x-pieces');
  if (pieces === undefined) {
    writer.sendWhole(200, headers, body);
    return;
  }
  writer.begin(200, headers, pieces === 'known' ? body.length : null);
  if (exchange.header('x-gate') === 'body') await gate;
  for (let at = 0; at < body.length; at += 1000) await writer.write(body.subarray(at, at + 1000));
  writer.end();
}

function answerPath(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('x-request-id', request.headers['x-request-id'] ?? 'none');
  response.end(request.url);
}

class Client {
  readonly socket: Socket;
  isEnded = false;
  readonly answers: TakenAnswer[] = [];
  #rest = Buffer.alloc(0);

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isEnded = true;
    });
    this.socket.on('data', (bytes) => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      for (let taken = takeAnswer(this.#rest); taken?.isWhole; taken = takeAnswer(this.#rest)) {
        this.answers.push(taken);
        this.#rest = taken.rest as Buffer<ArrayBuffer>;
      }
    });
    open.push(() => this.socket.destroy());
  }

  send(bytes: string): this {
    this.socket.write(bytes, 'latin1');
    return this;
  }

  /** Waits until there are `count` answers in all, and returns for each its body, or the type of its error. */
  async read(count: number): Promise<string[]> {
    await expect.poll(() => this.answers.length).toBe(count);
    return this.answers.map(({ status, body }) =>
      status === 200 ? body.toString() : JSON.parse(body.toString()).error.data.type,
    );
  }
}

const print = (body: string, headers: string[] = [], path = CALL) =>
  [
    `POST ${path} HTTP/1.1`,
    'host: x',
    'content-type: application/json',
    ...headers,
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');

/** Waits until the server has received what was sent: it is in this process. */
async function settle(): Promise<void> {
  await pause();
  await passTurns(20);
}

/** Runs again and again until the end of the test, or until the returned function is called. */
function runOften(action: () => void): () => void {
  let isOver = false;
  const stop = () => {
    isOver = true;
  };
  open.push(stop);
  void (async () => {
    for (; !isOver; await pause(TICK_MS)) action();
  })();
  return stop;
}

test('admits or refuses a waiting request, and serves further requests of its connection', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const client = dial().send(print('one'));
  await settle();
  expect(client.answers).toHaveLength(0);
  manual.refuseWaiting();
  expect(await client.read(1)).toEqual(['overloaded']);
  client.send(print('two'));
  await settle();
  manual.release();
  expect(await client.read(2)).toEqual(['overloaded', 'two']);
  manual.hold();
  client.send(print('three'));
  await settle();
  manual.refuseWaiting();
  expect(await client.read(3)).toEqual(['overloaded', 'two', 'overloaded']);
});

test('submits only calls to the load shedder, also behind the router', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const client = dial().send(print('', [], '/healthz'));
  expect(await client.read(1)).toEqual(['/healthz']);
  client.send(print('one'));
  await settle();
  manual.refuseWaiting();
  expect(await client.read(2)).toEqual(['/healthz', 'overloaded']);
});

test('never takes the rest of a body for a request, whether its request waits, is admitted or is refused', async () => {
  const { manual, dial } = await startServer();
  const body = print('looks like a request', [], '/healthz');
  const whole = print(body);
  const cut = whole.length - body.length;
  manual.hold();
  const [waiting, admitted, refused] = [dial(), dial(), dial()].map((client) =>
    client.send(whole.slice(0, cut)),
  );
  await settle();
  waiting?.send(whole.slice(cut, cut + 10));
  await settle();
  waiting?.send(whole.slice(cut + 10));
  await settle();
  manual.release();
  admitted?.send(whole.slice(cut));
  refused?.send(whole.slice(cut));
  for (const client of [waiting, admitted, refused]) expect(await client?.read(1)).toEqual([body]);
  manual.hold();
  refused?.send(whole.slice(0, cut + 1));
  await settle();
  manual.refuseWaiting();
  expect(await refused?.read(2)).toEqual([body, 'overloaded']);
  // The rest of the refused request and the next request, in one piece.
  refused?.send(`${whole.slice(cut + 1)}${print('next')}`);
  await settle();
  manual.release();
  expect(await refused?.read(3)).toEqual([body, 'overloaded', 'next']);
});

test('takes a large body in parts, between which other connections have their turn', async () => {
  const { manual, server, dial } = await startServer({ bodyBytesMax: 8 * MIB });
  const body = 'x'.repeat(8 * MIB);
  let largestPart = 0;
  // How much is in the buffers of the operating system at once differs.
  for (let run = 0; run < 5; run++) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    manual.hold();
    const client = dial().send(print(body));
    const [socket] = await accepted;
    await settle();
    manual.release();
    for (let before = socket.bytesRead; socket.bytesRead < body.length; before = socket.bytesRead) {
      await passTurns();
      largestPart = Math.max(largestPart, socket.bytesRead - before);
    }
    expect(await client.read(1)).toEqual([body]);
  }
  // One piece more may have been read before the pause.
  expect(largestPart).toBeLessThanOrEqual((256 + 64) * 1024);
});

test('answers pipelined requests in their order', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const together = dial().send(print('1').repeat(3));
  const later = dial().send(print('1'));
  await settle();
  later.send(print('2') + print('3'));
  await settle();
  manual.release();
  expect(await together.read(3)).toEqual(['1', '1', '1']);
  expect(await later.read(3)).toEqual(['1', '2', '3']);
});

test('refuses a request only after the previous one was answered', async () => {
  const { manual, openGate, dial } = await startServer();
  const first = print('first', ['x-gate: answer']);
  const client = dial().send(first.slice(0, -1));
  await settle();
  client.send(first.slice(-1));
  await settle();
  manual.hold();
  client.send(print('second'));
  await settle();
  manual.refuseWaiting();
  expect(client.answers).toEqual([]);
  openGate();
  await client.read(1);
  await settle();
  manual.refuseWaiting();
  expect(await client.read(2)).toEqual(['first', 'overloaded']);
});

test('a request that is not plain also waits, after HTTP has parsed it', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const chunked = dial().send(
    `POST ${CALL} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  );
  const inPieces = dial();
  for (const byte of print('slow')) {
    inPieces.send(byte);
    await pause(TICK_MS);
  }
  const long = dial().send(print('x'.repeat(100_000)));
  await settle();
  expect([chunked, inPieces, long].flatMap(({ answers }) => answers)).toHaveLength(0);
  manual.release();
  expect(await chunked.read(1)).toEqual(['abc']);
  expect(await inPieces.read(1)).toEqual(['slow']);
  expect(await long.read(1)).toEqual(['x'.repeat(100_000)]);
  manual.hold();
  inPieces.send(print('again'));
  await settle();
  manual.refuseWaiting();
  expect(await inPieces.read(2)).toEqual(['slow', 'overloaded']);
});

test('closes the connection after its answer if the client asks for that', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const client = dial().send(print('one', ['connection: close']));
  await settle();
  manual.refuseWaiting();
  expect(await client.read(1)).toEqual(['overloaded']);
  expect(client.answers[0]?.headers['connection']).toBe('close');
  await expect.poll(() => client.isEnded).toBe(true);
});

test('does not serve a waiting request whose client has left', async () => {
  const { manual, counts, dial } = await startServer();
  manual.hold();
  const [ended, reset, other] = [dial(), dial(), dial()].map((client) => client.send(print('one')));
  await settle();
  ended?.socket.end();
  reset?.socket.resetAndDestroy();
  await settle();
  manual.release();
  expect(await other?.read(1)).toEqual(['one']);
  await settle();
  expect([ended?.answers, reset?.answers, counts.served]).toEqual([[], [], 1]);
});

test('refuses with the same answer whether or not HTTP has parsed the request', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const headers = ['x-request-id: mine', 'origin: https://app.example'];
  const plain = dial().send(print('one', headers));
  const other = dial().send(print('one', [...headers, 'te: trailers', 'connection: te, keep-alive']));
  await settle();
  manual.refuseWaiting();
  expect([await plain.read(1), await other.read(1)]).toEqual([['overloaded'], ['overloaded']]);
  const [[one], [two]] = [plain.answers, other.answers];
  expect(one?.body).toEqual(two?.body);
  expect(JSON.parse(String(one?.body))).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -32013,
      message: expect.stringContaining('Send the call again in 1 s; nothing of it was sent.'),
      data: { type: 'overloaded', retryable: true, outcome: 'not_sent' },
    },
  });
  const { date, ...sent } = one?.headers ?? {};
  expect(Date.parse(date ?? '')).toBeGreaterThan(Date.now() - 10_000);
  expect(sent).toMatchObject({
    'retry-after': '1',
    'x-request-id': 'mine',
    'access-control-allow-origin': 'https://app.example',
  });
  const { date: _, ...sentBehindHttp } = two?.headers ?? {};
  expect(sent).toEqual(sentBehindHttp);
});

test('generates a request id if the request has none, or one that is not safe to log', async () => {
  const { manual, dial } = await startServer();
  manual.hold();
  const clients = [dial().send(print('one')), dial().send(print('one', ['x-request-id: <script>']))];
  await settle();
  manual.refuseWaiting();
  for (const client of clients) {
    await client.read(1);
    expect(client.answers[0]?.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  }
});

test('stop closes connections that have sent nothing or were refused, and the others after their answer', async () => {
  const { manual, server, listener, dial } = await startServer();
  manual.hold();
  const [silent, refused] = [dial(), dial().send(print('one'))];
  await settle();
  manual.refuseWaiting();
  await refused.read(1);
  const waiting = dial().send(print('two'));
  const half = dial().send(print('three').slice(0, -1));
  await settle();
  manual.loadShedder.admitAll();
  listener.stop();
  const closed = once(server, 'close');
  server.close();
  half.send('e');
  expect(await waiting.read(1)).toEqual(['two']);
  expect(await half.read(1)).toEqual(['three']);
  await expect.poll(() => silent.isEnded && refused.isEnded).toBe(true);
  await closed;
});

test('stop closes a connection whose answer had begun, and the end does not wait for later connections', async () => {
  const { server, listener, openGate, dial } = await startServer();
  const begun = dial().send(print('one', ['x-pieces: chunked', 'x-gate: body']));
  await settle();
  listener.stop();
  const [silent, late] = [dial(), dial().send(print('two'))];
  expect(await late.read(1)).toEqual(['two']);
  const closed = once(server, 'close');
  server.close();
  openGate();
  expect(await begun.read(1)).toEqual(['one']);
  await expect.poll(() => begun.isEnded).toBe(true);
  // The end of the graceful stop, after some seconds.
  server.closeAllConnections();
  await expect.poll(() => silent.isEnded).toBe(true);
  await closed;
});

test('keeps a connection longer than the idle time that its client was told', async () => {
  const { server, dial } = await startServer({ idleTimeoutMs: 1000 });
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = dial().send(print('one'));
  await client.read(1);
  expect(client.answers[0]?.headers['keep-alive']).toBe('timeout=1');
  const [socket] = await accepted;
  // Node counts it, by a clock that no test can move. `closes an idle connection` shows what follows.
  expect(socket.timeout).toBe(2000);
});

test('ignores line breaks before and after a request', async () => {
  const { dial } = await startServer({ requestTimeoutMs: SHORT_TIMEOUT_MS });
  const client = dial().send(`\r\n${print('one')}\r\n`);
  await client.read(1);
  await pause(LONGER_THAN_TIMEOUT_MS);
  expect(await client.send(`\r\n\r\n${print('two')}`).read(2)).toEqual(['one', 'two']);
});

test('ignores a line break that arrives in two pieces', async () => {
  const { dial } = await startServer({ headersTimeout: SHORT_TIMEOUT_MS });
  const client = dial().send(`${print('one')}\r`);
  await client.read(1);
  await settle();
  client.send('\n');
  await pause(LONGER_THAN_TIMEOUT_MS);
  expect(await client.send(print('two')).read(2)).toEqual(['one', 'two']);
});

test('a client that sends nothing but line breaks cannot keep its connection open', async () => {
  const { dial } = await startServer({ headersTimeout: SHORT_TIMEOUT_MS });
  const client = dial();
  runOften(() => client.send('\r\n'));
  await expect.poll(() => client.isEnded).toBe(true);
});

test('closes an idle connection', async () => {
  const { dial } = await startServer({ idleTimeoutMs: 100 });
  const client = dial();
  await expect.poll(() => client.isEnded).toBe(true);
});

test('closes a connection whose refused request never ends', async () => {
  // Only `expect.poll` moves this clock.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  open.push(() => vi.useRealTimers());
  const { manual, dial } = await startServer({ requestTimeoutMs: SHORT_TIMEOUT_MS });
  manual.hold();
  const [keeping, ending] = [print('one'), print('one', ['connection: close'])].map((text) =>
    dial().send(text.slice(0, -1)),
  );
  await settle();
  manual.refuseWaiting();
  for (const client of [keeping, ending]) {
    expect(await client?.read(1)).toEqual(['overloaded']);
    await expect.poll(() => client?.isEnded).toBe(true);
  }
});

test('answers a body that does not arrive in time with an error, and closes the connection', async () => {
  const { dial, counts } = await startServer({ requestTimeoutMs: SHORT_TIMEOUT_MS });
  const client = dial().send(print('one').slice(0, -1));
  await expect.poll(() => client.answers.length).toBe(1);
  expect(client.answers[0]).toMatchObject({ status: 400, headers: { connection: 'close' } });
  expect(String(client.answers[0]?.body)).toContain('did not arrive whole in time');
  await expect.poll(() => client.isEnded).toBe(true);
  expect(counts.running).toBe(0);
});

test('closes a connection whose body is late and not wanted', async () => {
  const { dial, counts } = await startServer({ requestTimeoutMs: SHORT_TIMEOUT_MS });
  const client = dial().send(
    print('one', ['content-encoding: br', `x-delay-before-body: ${LONGER_THAN_TIMEOUT_MS}`]).slice(0, -1),
  );
  await expect.poll(() => client.answers.length).toBe(1);
  await expect.poll(() => client.isEnded).toBe(true);
  expect(counts.running).toBe(0);
});

test.each([
  ['a body that fits into the buffers', 1000, 'keep-alive'],
  ['a long body', 500_000, 'close'],
])('discards %s that is not wanted', async (_name, length, connection) => {
  const { dial, counts } = await startServer();
  const body = 'x'.repeat(length);
  const request = print(body, ['content-encoding: br']);
  const client = dial().send(request.slice(0, -length));
  await expect.poll(() => client.answers.length).toBe(1);
  expect(client.answers[0]).toMatchObject({ status: 400, headers: { connection } });
  client.send(body);
  if (connection === 'close') await expect.poll(() => client.isEnded).toBe(true);
  else {
    client.send(print('two'));
    await expect.poll(() => client.answers.at(-1)?.body.toString()).toBe('two');
  }
  expect(counts.running).toBe(0);
});

test('sends a body of unknown length in chunks, and one of known length as it is', async () => {
  const { dial } = await startServer();
  const body = 'abcdefghij'.repeat(1000);
  const client = dial().send(print(body, ['x-pieces: chunked']) + print(body, ['x-pieces: known']));
  expect(await client.read(2)).toEqual([body, body]);
  expect(
    client.answers.map(({ headers }) => [headers['transfer-encoding'], headers['content-length']]),
  ).toEqual([
    ['chunked', undefined],
    [undefined, String(body.length)],
  ]);
});

test.each([
  ['plain', [], 0],
  ['not plain', ['connection: te', 'te: trailers'], 60],
])('bounds how many pipelined requests of a connection wait at once: %s', async (_name, headers, most) => {
  const { manual, server, counts, dial } = await startServer();
  let parsed = 0;
  server.on('request', () => parsed++);
  manual.hold();
  const client = dial().send(print('', headers).repeat(300));
  await settle();
  expect(parsed).toBeLessThanOrEqual(most);
  expect(counts.served).toBe(0);
  runOften(() => manual.release());
  await client.read(300);
});

test('sends no further refusals while the client does not read them', async () => {
  const { manual, server, dial } = await startServer();
  const sockets: Socket[] = [];
  server.prependListener('connection', (socket: Socket) => sockets.push(socket));
  const client = dial();
  client.socket.pause();
  // The origin makes the answers long.
  const request = print('', [`origin: https://${'x'.repeat(7000)}.example`]);
  for (let round = 0; round < 300; round++) {
    manual.hold();
    client.send(request.repeat(5));
    await pause(TICK_MS);
    for (let count = 0; count < 5; count++) manual.refuseWaiting();
  }
  expect(sockets[0]?.writableLength).toBeLessThan(200_000);
  client.socket.resume();
  runOften(() => manual.release());
  await client.read(1500);
});

test('closes a connection whose client asks for the close and does not read its refusals', async () => {
  const { manual, server, dial } = await startServer();
  const sockets: Socket[] = [];
  server.prependListener('connection', (socket: Socket) => sockets.push(socket));
  const client = dial();
  client.socket.pause();
  const origin = `origin: https://${'x'.repeat(7000)}.example`;
  await expect.poll(() => sockets.length).toBe(1);
  const refuse = async (request: string) => {
    const { bytesRead } = sockets[0]!;
    manual.hold();
    client.send(request);
    while (sockets[0]!.bytesRead < bytesRead + request.length) await passTurns();
    manual.refuseWaiting();
  };
  for (let round = 0; round < 5000 && sockets[0]?.writableLength === 0; round++) {
    await refuse(print('', [origin]));
    await pause(TICK_MS);
  }
  expect(sockets[0]?.writableNeedDrain).toBe(false);
  await refuse(print('', [origin, 'connection: close']));
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
});

test('feeds HTTP nothing while HTTP has paused the connection, and everything in the end', async () => {
  const taken: Buffer[] = [];
  let isPaused = false;
  let faults = 0;
  const responses: PassThrough[] = [];
  const server = createServer();
  // Stands in for Node's HTTP, which also asserts that a paused connection receives nothing. It pauses at each piece.
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) =>
    socket.on('data', (bytes) => {
      if (isPaused) faults++;
      taken.push(bytes);
      // Several unanswered requests also stop the feed.
      const response = new PassThrough();
      server.emit('request', { socket }, response);
      responses.push(response);
      isPaused = true;
      socket.pause();
      runLater(TICK_MS, () => {
        isPaused = false;
        socket.resume();
      });
    }),
  );
  new ConnectionListener(server, {
    admission: new ManualLoadShedder().loadShedder,
    collectBody,
    idleTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close());
  const text = 'not a plain request, '.repeat(50_000);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const client = new Client((server.address() as AddressInfo).port);
  client.send(text);
  await pause(10 * MOMENT_MS);
  // While answers are pending, nothing is read ahead, even if HTTP has not paused the connection.
  expect(sockets[0]?.bytesRead).toBeLessThan(300_000);
  runOften(() => {
    for (const response of responses.splice(0)) response.destroy();
  });
  await expect.poll(() => Buffer.concat(taken).length).toBe(text.length);
  expect(Buffer.concat(taken).toString()).toBe(text);
  expect(faults).toBe(0);
});

test('ends every request of a closed connection, even if a CONNECT followed them', async () => {
  const { manual, server, dial } = await startServer();
  let begun = 0;
  let ended = 0;
  server.on('request', (_request, response: ServerResponse) => {
    begun++;
    response.once('close', () => ended++);
  });
  manual.hold();
  const odd = ['connection: te', 'te: trailers'];
  const client = dial().send(`${print('', odd).repeat(3)}CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n`);
  await expect.poll(() => client.isEnded).toBe(true);
  await expect.poll(() => ended).toBe(begun);
  expect(begun).toBe(3);
});

/** Pauses between the pieces of a request. A whole stream takes about the second time. */
const PIECE_PAUSE_MS_MAX = 5;
const LEAVING_MS_MAX = 100;

test.each(Array.from({ length: 3 }, (_, index) => index))(
  'any stream of requests gets one answer each, in order, however it is cut into pieces: round %i',
  async (round) => {
    const seed = (Date.now() + round) % 1_000_000;
    process.stdout.write(`streams of requests: seed ${seed}\n`);
    const random = createRandom(seed);
    const chance = (share: number) => random() < share;
    const { manual, counts, dial } = await startServer();
    const clients = Array.from({ length: 30 }, () => {
      // Some clients wait for each answer, others for none.
      const isPatient = chance(0.7);
      const requests = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) => {
        const headers = [`x-request-id: r${index}`];
        if (chance(0.5)) headers.push(`x-delay: ${Math.floor(random() * 20)}`);
        if (chance(0.1)) headers.push('te: trailers', 'connection: te');
        if (chance(0.3)) headers.push(`x-pieces: ${chance(0.5) ? 'known' : 'chunked'}`);
        if (chance(0.2)) headers.push('accept-encoding: gzip');
        const path = chance(0.2) ? '/other' : CALL;
        const body = chance(0.2) ? 'y'.repeat(20_000) : print('inner').slice(0, Math.floor(random() * 60));
        return print(body, headers, path);
      });
      return { client: dial(), isPatient, requests };
    });
    const run = async ({ client, isPatient, requests }: (typeof clients)[number]) => {
      const streams = isPatient ? requests : [requests.join('')];
      for (const [index, stream] of streams.entries()) {
        for (let at = 0; at < stream.length; ) {
          const length = chance(0.5) ? stream.length : 1 + Math.floor(random() * (chance(0.3) ? 5 : 400));
          client.send(stream.slice(at, at + length));
          at += length;
          if (chance(0.7)) await pauseAtRandom(random, PIECE_PAUSE_MS_MAX);
        }
        if (isPatient) await expect.poll(() => client.answers.length).toBe(index + 1);
      }
    };
    const stopDriver = runOften(() => {
      manual.hold();
      const part = random();
      if (part < 0.5) manual.refuseWaiting();
      else if (part < 0.75) manual.release();
    });
    // Further clients leave at some point, whatever their requests wait for.
    const leaving = Array.from({ length: 15 }, async () => {
      const leavingBytes = chance(0.3) ? 600_000 : 30_000;
      const { socket } = dial().send(
        print('z'.repeat(leavingBytes), ['x-delay: 20']).slice(0, 1 + random() * (leavingBytes + 200)),
      );
      await pauseAtRandom(random, LEAVING_MS_MAX);
      if (chance(0.5)) socket.resetAndDestroy();
      else socket.end();
    });
    // A refusal of a large body closes the connection, so that each has its own.
    const large = Array.from({ length: 12 }, async () => {
      const client = dial();
      const body = String(Math.floor(random() * 10)).repeat(100_000 + random() * 500_000);
      const request = print(body);
      for (let at = 0; at < request.length; ) {
        const length = Math.ceil(random() * request.length);
        client.send(request.slice(at, at + length));
        at += length;
        await pauseAtRandom(random, PIECE_PAUSE_MS_MAX);
      }
      const [answer] = await client.read(1);
      expect(answer === body || answer === 'overloaded', `seed ${seed}`).toBe(true);
    });
    await Promise.all([...clients.map(run), ...leaving, ...large]);
    for (const { client, requests } of clients) {
      await expect.poll(() => client.answers.length).toBe(requests.length);
      expect(
        client.answers.map(({ headers }) => headers['x-request-id']),
        `seed ${seed}`,
      ).toEqual(requests.map((_, index) => `r${index}`));
    }
    for (const status of [200, 503]) {
      const ended = clients.flatMap(({ client }) => client.answers.filter((one) => one.status === status));
      expect(ended.length, `seed ${seed}, status ${status}`).toBeGreaterThan(0);
    }
    stopDriver();
    manual.release();
    await expect.poll(() => counts.running, { message: `seed ${seed}` }).toBe(0);
  },
);

/** Requests before Node's HTTP has them, on real connections: which are answered, in which order, and by whom. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type TakenAnswer, takeAnswer } from '../../../test/take-answer.ts';
import { OWN_DIALECT } from '../../execute/terms/dialect.ts';
import { createRandom } from '../../limits/database/seeded-random.fixture.ts';
import { ConnectionListener } from './connection-listener.ts';
import { ManualLoadShedder } from './manual-load-shedder.fixture.ts';
import { Refusal } from './refuse.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

const CALL = '/api/erp/execute';

/** A server that answers a call with its body, and other paths with their name, as soon as they are whole. */
async function start({ silentMs = 60_000, requestTimeoutMs = 60_000 } = {}) {
  const hand = new ManualLoadShedder();
  const refusal = new Refusal(OWN_DIALECT);
  const server = createServer({ keepAliveTimeout: silentMs }, async (request, response) => {
    const serve = () => void answer(request, response);
    if (request.url !== CALL) return serve();
    doorway.enter(request, {
      get hasLeft() {
        return response.destroyed;
      },
      letIn: serve,
      refuse: () => refusal.answer(request, response),
    });
  });
  const doorway = new ConnectionListener(server, { door: hand.door, silentMs, requestTimeoutMs });
  doorway.guard(CALL, refusal);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { hand, server, doorway, dial: () => new Client(port) };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request).catch(() => null);
  if (body === null) return;
  await sleep(Number(request.headers['x-delay'] ?? 0));
  response.setHeader('x-request-id', request.headers['x-request-id'] ?? 'none');
  response.end(request.url === CALL ? body : request.url);
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

  /** Waits for so many answers in all, and gives what they say: the body, or the kind of error. */
  async read(count: number): Promise<string[]> {
    await expect.poll(() => this.answers.length, { timeout: 5000 }).toBe(count);
    return this.answers.map(({ status, body }) =>
      status === 200 ? body.toString() : JSON.parse(body.toString()).error.data.type,
    );
  }
}

const print = (body: string, headers: string[] = [], path = CALL) =>
  [`POST ${path} HTTP/1.1`, 'host: x', ...headers, `content-length: ${body.length}`, '', body].join('\r\n');

/** Time for the server to have taken what was sent. */
const settle = () => sleep(100);

test('who waits is let in, or refused; the connection stays open, and is served as ever afterwards', async () => {
  const { hand, dial } = await start();
  hand.close();
  const client = dial().send(print('one'));
  await settle();
  expect(client.answers).toHaveLength(0);
  hand.refuse();
  expect(await client.read(1)).toEqual(['overloaded']);
  client.send(print('two'));
  await settle();
  hand.open();
  expect(await client.read(2)).toEqual(['overloaded', 'two']);
  hand.close();
  client.send(print('three'));
  await settle();
  hand.refuse();
  expect(await client.read(3)).toEqual(['overloaded', 'two', 'overloaded']);
});

test('asks for calls only', async () => {
  const { hand, dial } = await start();
  hand.close();
  const client = dial().send(print('', [], '/healthz'));
  expect(await client.read(1)).toEqual(['/healthz']);
  client.send(print('one'));
  await settle();
  hand.refuse();
  expect(await client.read(2)).toEqual(['/healthz', 'overloaded']);
});

test('takes the rest of a body for what it is, whether its request waits, is let in or is refused', async () => {
  const { hand, dial } = await start();
  const body = print('looks like a request', [], '/healthz');
  const whole = print(body);
  const cut = whole.length - body.length;
  hand.close();
  const [waiting, letIn, refused] = [dial(), dial(), dial()].map((client) =>
    client.send(whole.slice(0, cut)),
  );
  await settle();
  waiting?.send(whole.slice(cut, cut + 10));
  await settle();
  waiting?.send(whole.slice(cut + 10));
  await settle();
  hand.open();
  letIn?.send(whole.slice(cut));
  refused?.send(whole.slice(cut));
  for (const client of [waiting, letIn, refused]) expect(await client?.read(1)).toEqual([body]);
  hand.close();
  refused?.send(whole.slice(0, cut + 1));
  await settle();
  hand.refuse();
  expect(await refused?.read(2)).toEqual([body, 'overloaded']);
  // The rest of what was refused, and the next one, in one piece.
  refused?.send(`${whole.slice(cut + 1)}${print('next')}`);
  await settle();
  hand.open();
  expect(await refused?.read(3)).toEqual([body, 'overloaded', 'next']);
});

test('requests sent without waiting are each answered, in their order', async () => {
  const { hand, dial } = await start();
  hand.close();
  const together = dial().send(print('1').repeat(3));
  const later = dial().send(print('1'));
  await settle();
  later.send(print('2') + print('3'));
  await settle();
  hand.open();
  expect(await together.read(3)).toEqual(['1', '1', '1']);
  expect(await later.read(3)).toEqual(['1', '2', '3']);
});

test('refuses nothing before the answer to the request before it', async () => {
  const { hand, dial } = await start();
  const first = print('first', ['x-delay: 600']);
  const client = dial().send(first.slice(0, -1));
  await settle();
  client.send(first.slice(-1));
  await settle();
  hand.close();
  client.send(print('second'));
  await settle();
  hand.refuse();
  expect(client.answers).toEqual([]);
  expect(await client.read(2)).toEqual(['first', 'overloaded']);
});

test('what is not plain waits as well, as a request that HTTP has read', async () => {
  const { hand, dial } = await start();
  hand.close();
  const chunked = dial().send(
    `POST ${CALL} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  );
  const inPieces = dial();
  for (const byte of print('slow')) {
    inPieces.send(byte);
    await sleep(1);
  }
  const long = dial().send(print('x'.repeat(100_000)));
  await settle();
  expect([chunked, inPieces, long].flatMap(({ answers }) => answers)).toHaveLength(0);
  hand.open();
  expect(await chunked.read(1)).toEqual(['abc']);
  expect(await inPieces.read(1)).toEqual(['slow']);
  expect(await long.read(1)).toEqual(['x'.repeat(100_000)]);
  hand.close();
  inPieces.send(print('again'));
  await settle();
  hand.refuse();
  expect(await inPieces.read(2)).toEqual(['slow', 'overloaded']);
});

test('closes where the client wants that, after its answer', async () => {
  const { hand, dial } = await start();
  hand.close();
  const client = dial().send(print('one', ['connection: close']));
  await settle();
  hand.refuse();
  expect(await client.read(1)).toEqual(['overloaded']);
  expect(client.answers[0]?.headers['connection']).toBe('close');
  await expect.poll(() => client.isEnded).toBe(true);
});

test('forgets who leaves', async () => {
  const { hand, server, dial } = await start();
  hand.close();
  let served = 0;
  server.on('request', () => served++);
  const [ended, reset, other] = [dial(), dial(), dial()].map((client) => client.send(print('one')));
  await settle();
  ended?.socket.end();
  reset?.socket.resetAndDestroy();
  await settle();
  hand.open();
  expect(await other?.read(1)).toEqual(['one']);
  await settle();
  expect([ended?.answers, reset?.answers, served]).toEqual([[], [], 1]);
});

test('says the same whether HTTP has read the request or not', async () => {
  const { hand, dial } = await start();
  hand.close();
  const headers = ['x-request-id: mine', 'origin: https://app.example'];
  const plain = dial().send(print('one', headers));
  const other = dial().send(print('one', [...headers, 'te: trailers', 'connection: te, keep-alive']));
  await settle();
  hand.refuse();
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
  const { date, ...said } = one?.headers ?? {};
  expect(Date.parse(date ?? '')).toBeGreaterThan(Date.now() - 10_000);
  expect(said).toMatchObject({
    'retry-after': '1',
    'x-request-id': 'mine',
    'access-control-allow-origin': 'https://app.example',
  });
  const { date: _, ...saidByHttp } = two?.headers ?? {};
  expect(said).toEqual(saidByHttp);
});

test('gives an id of its own to a request without one, and to one whose id is not safe to log', async () => {
  const { hand, dial } = await start();
  hand.close();
  const clients = [dial().send(print('one')), dial().send(print('one', ['x-request-id: <script>']))];
  await settle();
  hand.refuse();
  for (const client of clients) {
    await client.read(1);
    expect(client.answers[0]?.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  }
});

test('at the end lets in whoever waits, and closes connections that have sent nothing or were refused', async () => {
  const { hand, server, doorway, dial } = await start();
  hand.close();
  const [silent, refused] = [dial(), dial().send(print('one'))];
  await settle();
  hand.refuse();
  await refused.read(1);
  const waiting = dial().send(print('two'));
  const half = dial().send(print('three').slice(0, -1));
  await settle();
  doorway.stop();
  const closed = once(server, 'close');
  server.close();
  half.send('e');
  expect(await waiting.read(1)).toEqual(['two']);
  expect(await half.read(1)).toEqual(['three']);
  await expect.poll(() => silent.isEnded && refused.isEnded).toBe(true);
  server.closeIdleConnections();
  await closed;
});

test('closes a connection that stays silent', async () => {
  const { dial } = await start({ silentMs: 100 });
  const client = dial();
  await expect.poll(() => client.isEnded, { timeout: 2000 }).toBe(true);
});

test('closes a connection whose refused request never ends', async () => {
  const { hand, dial } = await start({ requestTimeoutMs: 200 });
  hand.close();
  const [open, ending] = [print('one'), print('one', ['connection: close'])].map((text) =>
    dial().send(text.slice(0, -1)),
  );
  await settle();
  hand.refuse();
  for (const client of [open, ending]) {
    expect(await client?.read(1)).toEqual(['overloaded']);
    await expect.poll(() => client?.isEnded, { timeout: 3000 }).toBe(true);
  }
});

test.each([
  ['plain', [], 1],
  ['not plain', ['connection: te', 'te: trailers'], 60],
])('of requests sent without waiting few are at the door at once: %s', async (_name, headers, most) => {
  const { hand, server, dial } = await start();
  let read = 0;
  server.on('request', () => read++);
  hand.close();
  const client = dial().send(print('', headers).repeat(2000));
  await sleep(200);
  expect(read).toBeLessThanOrEqual(most);
  const driver = setInterval(() => hand.open(), 1);
  open.push(() => clearInterval(driver));
  await client.read(2000);
});

test('refuses no more while its refusals are not taken', async () => {
  const { hand, server, dial } = await start();
  const sockets: Socket[] = [];
  server.prependListener('connection', (socket: Socket) => sockets.push(socket));
  const client = dial();
  client.socket.pause();
  // Long answers: they carry the origin.
  const request = print('', [`origin: https://${'x'.repeat(7000)}.example`]);
  for (let round = 0; round < 300; round++) {
    hand.close();
    client.send(request.repeat(5));
    await sleep(1);
    for (let count = 0; count < 5; count++) hand.refuse();
  }
  expect(sockets[0]?.writableLength).toBeLessThan(200_000);
  client.socket.resume();
  const driver = setInterval(() => hand.open(), 1);
  open.push(() => clearInterval(driver));
  await client.read(1500);
});

test('gives HTTP nothing while that has paused the connection, and all of it in the end', async () => {
  const taken: Buffer[] = [];
  let isPaused = false;
  let faults = 0;
  const responses: PassThrough[] = [];
  const server = createServer();
  // In place of Node's HTTP, which asserts the same: it pauses at each piece.
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) =>
    socket.on('data', (bytes) => {
      if (isPaused) faults++;
      taken.push(bytes);
      // A request that is answered later, together with others: with several of them it is given nothing either.
      const response = new PassThrough();
      server.emit('request', { socket }, response);
      responses.push(response);
      isPaused = true;
      socket.pause();
      setTimeout(() => {
        isPaused = false;
        socket.resume();
      }, 1);
    }),
  );
  new ConnectionListener(server, {
    door: new ManualLoadShedder().door,
    silentMs: 60_000,
    requestTimeoutMs: 60_000,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close());
  const text = 'no plain request, '.repeat(50_000);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const client = new Client((server.address() as AddressInfo).port);
  client.send(text);
  await sleep(300);
  // While answers are due, nothing is read ahead, whatever HTTP thinks of it.
  expect(sockets[0]?.bytesRead).toBeLessThan(300_000);
  const answering = setInterval(() => {
    for (const response of responses.splice(0)) response.destroy();
  }, 10);
  open.push(() => clearInterval(answering));
  await expect.poll(() => Buffer.concat(taken).length, { timeout: 10_000 }).toBe(text.length);
  expect(Buffer.concat(taken).toString()).toBe(text);
  expect(faults).toBe(0);
});

test('ends every request of a connection that is gone, also those with a CONNECT behind them', async () => {
  const { hand, server, dial } = await start();
  let begun = 0;
  let ended = 0;
  server.on('request', (_request, response: ServerResponse) => {
    begun++;
    response.once('close', () => ended++);
  });
  hand.close();
  const odd = ['connection: te', 'te: trailers'];
  const client = dial().send(`${print('', odd).repeat(3)}CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n`);
  await expect.poll(() => client.isEnded).toBe(true);
  await expect.poll(() => ended).toBe(begun);
  expect(begun).toBe(3);
});

test.each(Array.from({ length: 3 }, (_, index) => index))(
  'each request of any stream has one answer, in its order, however the stream is cut: round %i',
  { timeout: 60_000 },
  async (round) => {
    const seed = (Date.now() + round) % 1_000_000;
    process.stdout.write(`streams of requests: seed ${seed}\n`);
    const random = createRandom(seed);
    const chance = (share: number) => random() < share;
    const { hand, dial } = await start();
    const clients = Array.from({ length: 30 }, () => {
      // Some clients wait for each answer, others for none.
      const isPatient = chance(0.7);
      const requests = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) => {
        const headers = [`x-request-id: r${index}`];
        if (chance(0.5)) headers.push(`x-delay: ${Math.floor(random() * 20)}`);
        if (chance(0.1)) headers.push('te: trailers', 'connection: te');
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
          if (chance(0.7)) await sleep(Math.floor(random() * 4));
        }
        if (isPatient) await expect.poll(() => client.answers.length, { timeout: 10_000 }).toBe(index + 1);
      }
    };
    const driver = setInterval(() => {
      hand.close();
      const part = random();
      if (part < 0.5) hand.refuse();
      else if (part < 0.75) hand.open();
    }, 3);
    open.push(() => clearInterval(driver));
    await Promise.all(clients.map(run));
    for (const { client, requests } of clients) {
      await expect.poll(() => client.answers.length, { timeout: 10_000 }).toBe(requests.length);
      expect(
        client.answers.map(({ headers }) => headers['x-request-id']),
        `seed ${seed}`,
      ).toEqual(requests.map((_, index) => `r${index}`));
    }
    for (const status of [200, 503]) {
      const ended = clients.flatMap(({ client }) => client.answers.filter((one) => one.status === status));
      expect(ended.length, `seed ${seed}, status ${status}`).toBeGreaterThan(0);
    }
  },
);

/**
 * Tests with random clients on plain sockets: they pipeline, send in pieces, read slowly or not at all, and leave at
 * any point. Every answer belongs to its own call, nothing is left of a client that has gone, and a stop ends in time.
 */
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startPair } from '../pair.ts';
import { countCases } from '../random-cases.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, makeCall, printResult } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { type TakenAnswer, takeAnswer } from '../take-answer.ts';
import { pause, pauseAtRandom } from '../time.ts';

const CLIENTS = 10 * countCases(60);
const CLIENTS_AT_ONCE = 30;
/** Minimum number of answers that are checked. */
const CHECKED_MIN = 10;
/** Shorter than the time in which a request must be sent. */
const BETWEEN_PIECES_MS_MAX = 4;
/** Long enough for some or all of the answers. */
const SOON_MS_MAX = 30;
const LATER_MS_MAX = 400;
/** Longer than the time in which a request must be sent. */
const STAYING_MS = 1500;
const AFTER_END_MS_MAX = 50;
/** Time for the proxy to read what the clients have sent. */
const TAKING_MS = 200;
const DECODERS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

test('every answer belongs to its call, and nothing is left of clients that have gone', {}, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`hostile connections: seed ${seed}\n`);
  const random = createRandom(seed);
  const chance = (share: number) => random() < share;
  // The answer repeats the word of the call, some hundred thousand times for the word of a long answer.
  const { proxy, upstream } = closeAfterTest(
    await startPair(
      async (socket, { body }) => {
        const word = /word-\d+-(\d+)/.exec(body.toString());
        if (chance(0.3)) await pauseAtRandom(random);
        answerLikeOdoo(socket, printResult(`"${`${word?.[0]},`.repeat(Number(word?.[1] ?? 1))}"`));
      },
      { settings: { 'upstream.timeoutMs': '3000', 'http.requestTimeoutMs': '1000' } },
    ),
  );
  const accepted = new Set<Socket>();
  proxy.app.server.server.prependListener('connection', (socket: Socket) => {
    accepted.add(socket);
    socket.on('close', () => accepted.delete(socket));
  });
  const port = Number(new URL(proxy.url).port);
  let words = 0;

  const makeRequest = () => {
    const repeats = chance(0.1) ? 20_000 : chance(0.3) ? 300 : 1;
    const word = `word-${words++}-${repeats}`;
    const kind = random();
    const path = kind < 0.1 ? '/healthz' : '/api/erp/execute';
    const body = JSON.stringify(makeCall(upstream.url, { id: word, params: [[word]] }));
    const headers = [
      'host: x',
      `x-request-id: ${word}`,
      ...(kind > 0.2 ? [`x-proxy-api: ${proxy.key}`] : []),
      `content-type: ${kind > 0.3 ? 'application/json' : 'text/plain'}`,
      ...(chance(0.1) ? ['te: trailers', 'connection: te'] : []),
      ...(chance(0.3) ? [`accept-encoding: ${Object.keys(DECODERS)[Math.floor(random() * 3)]}`] : []),
    ];
    if (path === '/healthz')
      return {
        word,
        repeats,
        isCall: false,
        text: `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`,
      };
    if (chance(0.1)) {
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const head = [...headers, 'transfer-encoding: chunked'].join('\r\n');
      return { word, repeats, isCall: true, text: `POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${chunks}` };
    }
    const head = [...headers, `content-length: ${body.length}`].join('\r\n');
    return { word, repeats, isCall: true, text: `POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${body}` };
  };

  let checked = 0;
  const check = (
    { status, headers, body }: TakenAnswer,
    request: ReturnType<typeof makeRequest> | undefined,
  ) => {
    // If a head comes too late, Node sends an answer that belongs to no request.
    const isLate =
      status === 400 && headers['connection'] === 'close' && headers['x-request-id'] === undefined;
    if (isLate) return;
    if (request === undefined) throw new Error(`seed ${seed}: an answer of status ${status} to no request`);
    const { word, repeats, isCall } = request;
    if (!isCall) return;
    expect(headers['x-request-id'], `seed ${seed}`).toBe(word);
    if (status !== 200) return;
    const coding = headers['content-encoding'];
    const { id, result, error } = JSON.parse(
      Buffer.from(coding === undefined ? body : DECODERS[coding]!(body)).toString(),
    );
    expect([id, error], `seed ${seed}`).toEqual([word, undefined]);
    expect(result === `${word},`.repeat(repeats), `seed ${seed}: ${word}`).toBe(true);
    checked++;
  };

  const runClient = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let rest = Buffer.alloc(0);
    let answered = 0;
    const requests = Array.from({ length: 1 + Math.floor(random() * 6) }, makeRequest);
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    const served = Promise.withResolvers<void>();
    socket.on('error', () => {});
    const failed: unknown[] = [];
    socket.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (let taken = takeAnswer(rest); taken?.isWhole; taken = takeAnswer(rest)) {
        rest = taken.rest as Buffer<ArrayBuffer>;
        try {
          check(taken, requests[answered++]);
        } catch (error) {
          failed.push(error);
        }
        if (answered === requests.length) served.resolve();
      }
    });
    const way = random();
    if (way < 0.2) socket.pause();
    const stream = requests.map(({ text }) => text).join('');
    const sentLength = way > 0.8 ? Math.floor(random() * stream.length) : stream.length;
    for (let at = 0; at < sentLength; ) {
      const length = chance(0.7) ? sentLength : 1 + Math.floor(random() * 300);
      socket.write(stream.slice(at, Math.min(sentLength, at + length)), 'latin1');
      at += length;
      if (chance(0.5)) await pauseAtRandom(random, BETWEEN_PIECES_MS_MAX);
    }
    await pauseAtRandom(random, way < 0.5 ? SOON_MS_MAX : LATER_MS_MAX);
    const leaving = random();
    if (leaving < 0.3) socket.end();
    else if (leaving < 0.6) socket.destroy();
    else if (leaving < 0.8) socket.resetAndDestroy();
    else {
      if (socket.isPaused()) await pause(STAYING_MS);
      socket.resume();
      // The proxy ends a connection whose request stays incomplete.
      await Promise.race([ended, served.promise]);
    }
    socket.resume();
    await pauseAtRandom(random, AFTER_END_MS_MAX);
    socket.destroy();
    await ended;
    expect(failed).toEqual([]);
  };
  let left = CLIENTS;
  await Promise.all(
    Array.from({ length: CLIENTS_AT_ONCE }, async () => {
      while (left-- > 0) await runClient();
    }),
  );
  expect(checked, `seed ${seed}`).toBeGreaterThan(CHECKED_MIN);
  await expect.poll(() => accepted.size, { message: `seed ${seed}` }).toBe(0);
  await expect.poll(() => readInFlight(proxy.url), { message: `seed ${seed}` }).toBe(0);
  await expect.poll(() => upstream.sockets.size, { message: `seed ${seed}` }).toBe(0);
  expect(proxy.log.filter(({ level }) => level === 'error')).toEqual([]);

  // Clients in all these states do not delay a stop: one idle connection would delay it beyond the time of this test.
  const states: ((socket: Socket) => void)[] = [
    () => {},
    (socket) => socket.write('POST /api'),
    (socket) => socket.write(makeRequest().text),
    (socket) => socket.write(makeRequest().text.slice(0, -3)),
    (socket) => socket.write(`${makeRequest().text}POST `),
    (socket) => socket.pause().write(Array.from({ length: 300 }, () => makeRequest().text).join('')),
    (socket) => socket.end(makeRequest().text),
  ];
  const clients = Array.from({ length: 60 }, (_, index) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    if (index % states.length !== 5) socket.resume();
    states[index % states.length]!(socket);
    return socket;
  });
  await pause(TAKING_MS);
  await proxy.close();
  for (const socket of clients) socket.destroy();
});

/** Tests the memory of the running program: callers and upstreams cannot fill it. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { type LargeBody, makeLargeBodies } from '../large-bodies/bodies.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type Script,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { openConnection, printPost } from '../security/connection.ts';
import { callServer, makeFolder, makeKey, type Server, startServer } from './program.ts';

let server: Server;
let upstream: ScriptedUpstream;
let script: Script;
let key: string;
beforeEach(async () => {
  script = (socket) => answerLikeOdoo(socket, printResult('7'));
  upstream = await startUpstream((...args) => script(...args));
  // No call may end early on a busy machine.
  const flags = [`--egress.allow=${upstream.url}`, '--upstream.timeoutMs=300000'];
  server = await startServer(flags, { folder: makeFolder() });
  key = await makeKey(server);
  // Under load, V8 enlarges the space for young objects once.
  for (let sent = 0; sent < WARM_UP_CALLS; sent += CALLERS) {
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => call()));
    expect(answers.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
  }
});
afterEach(() => upstream.close());

const WARM_UP_CALLS = 3000;
const CALLERS = 20;
/** Memory of the thread itself: its heap, its modules and its stack. */
const THREAD_MIB = 64;
const HEADERS = { 'content-type': 'application/json' };

const call = () => callServer(server, key, makeCall(upstream.url));

test('refuses a body of 33 MiB without allocating memory for it', async () => {
  const before = readPeakMib();
  const body = Buffer.alloc(33 * 1024 ** 2, ' ');
  for (const name of ['ep_bad', key]) {
    const answer = await send(`${server.url}/api/erp/execute`, {
      method: 'POST',
      headers: { ...HEADERS, 'x-proxy-api': name },
      body,
    });
    expect(answer.status).toBe(name === key ? 413 : 401);
  }
  expect(readPeakMib() - before).toBeLessThan(24);
});

/**
 * Prints a body in chunks of one byte. Each chunk has six bytes on the wire, and could become an object in the memory
 * of the program.
 */
function printTinyChunks(text: string): string {
  return `${text.replace(/./gs, (byte) => `1\r\n${byte}\r\n`)}0\r\n\r\n`;
}

test('a body in chunks of one byte needs little more memory than its bytes', {}, async () => {
  const text = 'x'.repeat(1024 ** 2);
  const body = JSON.stringify(makeCall(upstream.url, { keyword: { text } }));
  // The first large body starts the thread for large bodies.
  const whole = await send(`${server.url}/api/erp/execute`, {
    method: 'POST',
    headers: { ...HEADERS, 'x-proxy-api': key },
    body,
  });
  expect(whole.status).toBe(200);
  const before = readPeakMib();
  const lines = [`x-proxy-api: ${key}`, 'content-type: application/json', 'transfer-encoding: chunked'];
  const connection = openConnection(server.url, printPost(lines, printTinyChunks(body)));
  expect((await connection.next())?.body.toString()).toContain('"result":7');
  connection.socket.destroy();
  expect(readPeakMib() - before).toBeLessThan(100);
});

const WHOLE_MIB = 32;

test('the thread for large bodies starts, and checks bodies of 32 MiB, within bounded memory', {}, async () => {
  const bodies = makeLargeBodies(upstream.url, WHOLE_MIB * 1024 ** 2).filter(({ name }) =>
    ['records', 'one string'].includes(name),
  );
  expect(bodies).toHaveLength(2);
  const before = readPeakMib();
  const peaks: number[] = [];
  for (let count = 0; count < 12; count++) {
    const { name, bytes } = bodies[count % 2] as LargeBody;
    const { status } = await send(`${server.url}/api/erp/execute`, {
      method: 'POST',
      headers: { ...HEADERS, 'x-proxy-api': key },
      body: bytes,
    });
    expect(status, name).toBe(200);
    peaks.push(readPeakMib() - before);
  }
  // A call needs three times the memory of its body.
  expect(peaks[0]).toBeLessThan(THREAD_MIB + 4 * WHOLE_MIB);
  // Some bodies are not collected yet. If all were kept, there would be twelve.
  expect(peaks.at(-1)).toBeLessThan(THREAD_MIB + 11 * WHOLE_MIB);
});

test('an answer in chunks of one byte neither fills the memory nor blocks the program', {}, async () => {
  const before = readPeakMib();
  const fault = `{"jsonrpc":"2.0","id":1,"error":{"message":"${'x'.repeat(2 * 1024 ** 2)}"}}`;
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  script = (socket) => {
    socket.write(head + printTinyChunks(fault));
  };
  expect((await call()).body.toString()).toContain('"type":"upstream_error"');
  expect(readPeakMib() - before).toBeLessThan(100);
});

/** Peak memory of the process (proc(5), VmHWM). */
function readPeakMib(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
}

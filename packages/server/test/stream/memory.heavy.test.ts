/**
 * Tests that a result or a file of 200 MB adds at most 32 MB to the memory of a warm process. The proxy runs in a
 * process of its own, and the kernel reports its peak memory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { createDecoder } from '../take-answer.ts';
import { type Framing, untilWritable, writeEnd, writeHead, writePiece } from './framing.ts';
import { ODOO_HEAD, OUR_HEAD } from './pair.ts';

const MEBIBYTE = 1024 ** 2;
const RESULT_BYTES = 200 * MEBIBYTE;
const ADDED_BYTES_MAX = 32 * MEBIBYTE;

/** A mebibyte of records, which compress about as well as real ones. */
const RECORDS = makeRecords();
const PIECES = RESULT_BYTES / RECORDS.length;

/**
 * How the upstream compresses. Each piece is compressed separately: in both formats, such pieces can be concatenated.
 */
const PACKERS = {
  gzip: (bytes: Buffer) => gzipSync(bytes),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
};

interface Plan {
  framing: Framing;
  packed: keyof typeof PACKERS | null;
  /** By default, the records. */
  content?: Content;
}

/** A large answer: a piece that is sent many times, between its beginning and its end. */
interface Content {
  start: string;
  piece: Buffer;
  pieces: number;
  end: string;
}

const RECORDS_CONTENT: Content = { start: `${ODOO_HEAD}[`, piece: RECORDS, pieces: PIECES, end: ']}' };

/** The base64 of a file has a third more bytes than the file. */
const FILE_PIECE = randomBytes(0.75 * MEBIBYTE);
const FILE_CONTENT: Content = {
  start: `${ODOO_HEAD}[{"id": 7, "name": "a", "mimetype": "text/plain", "datas": "`,
  piece: Buffer.from(FILE_PIECE.toString('base64')),
  pieces: Math.ceil(RESULT_BYTES / FILE_PIECE.length),
  end: '"}]}',
};

/** The types of the fields of the records, for normalized values. */
const TYPES = {
  id: { type: 'integer' },
  name: { type: 'char' },
  amount: { type: 'float' },
  active: { type: 'boolean' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  when: { type: 'datetime' },
};

let plan: Plan | null = null;
let upstream: ScriptedUpstream;
let proxy: ChildProcess;
let proxyUrl: string;
let key: string;

const TOKEN = 'the-admin-token-of-this-test-0123456789';

beforeAll(async () => {
  upstream = await startUpstream((socket, { body }) => {
    if (body.includes('"fields_get"')) answerLikeOdoo(socket, printResult(JSON.stringify(TYPES)));
    else if (plan === null) answerLikeOdoo(socket, printResult('[{"id": 1, "name": "Deco Addict"}]'));
    else void sendResult(socket, plan);
  });
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const flags = [
    '--http.port=0',
    '--store.url=memory:',
    `--admin.token=${TOKEN}`,
    `--egress.allow=${upstream.url}`,
    '--log.level=info',
  ];
  proxy = spawn(process.execPath, [main, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'] ?? '' },
  });
  let printed = '';
  for await (const bytes of proxy.stdout!.iterator({ destroyOnReturn: false })) {
    printed += bytes;
    const url = /"url":"([^"]+)"/.exec(printed);
    if (url === null) continue;
    proxyUrl = url[1] as string;
    break;
  }
  proxy.stdout!.resume();
  const made = await fetch(`${proxyUrl}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'test' }),
  });
  ({ key } = (await made.json()) as { key: string });
  // During these calls, V8's space for young objects grows to the maximum that it has under load (cli/memory-limit.ts).
  for (let round = 0; round < 40; round++)
    await Promise.all(Array.from({ length: 50 }, () => takeResult({})));
});
afterAll(async () => {
  proxy.kill('SIGKILL');
  await once(proxy, 'exit');
  await upstream.close();
});

test.runIf(process.platform === 'linux').each<[string, Plan, Record<string, string>]>([
  ['with content-length', { framing: 'length', packed: null }, {}],
  ['in chunks', { framing: 'chunked', packed: null }, {}],
  ['that the upstream compressed with gzip', { framing: 'chunked', packed: 'gzip' }, {}],
  ['that the upstream compressed with zstd', { framing: 'chunked', packed: 'zstd' }, {}],
  ['that is compressed with gzip', { framing: 'length', packed: null }, { 'accept-encoding': 'gzip' }],
  ['that is compressed with br', { framing: 'length', packed: null }, { 'accept-encoding': 'br' }],
  ['that is compressed with zstd', { framing: 'length', packed: null }, { 'accept-encoding': 'zstd' }],
  ['with normalized values', { framing: 'length', packed: null }, { prefer: 'values=normalized' }],
])('a result %s adds at most 32 MB', async (_, next, headers) => {
  const { bytes, hash, addedBytes } = await measure(next, () => takeResult(headers));
  expect({ bytes, hash }).toEqual('prefer' in headers ? NORMALIZED : EXPECTED);
  expect(addedBytes).toBeLessThan(ADDED_BYTES_MAX);
});

test.runIf(process.platform === 'linux')('a file of 200 MB adds at most 32 MB', async () => {
  const file = createHash('sha1');
  for (let piece = 0; piece < FILE_CONTENT.pieces; piece++) file.update(FILE_PIECE);
  const next: Plan = { framing: 'length', packed: null, content: FILE_CONTENT };
  const { addedBytes, ...taken } = await measure(next, takeFile);
  const bytes = FILE_CONTENT.pieces * FILE_PIECE.length;
  expect(taken).toEqual({ bytes, hash: file.digest('hex') });
  expect(addedBytes).toBeLessThan(ADDED_BYTES_MAX);
});

async function measure(next: Plan, take: () => Promise<Taken>): Promise<Taken & { addedBytes: number }> {
  plan = next;
  const beforeBytes = readMemory('VmRSS');
  // Resets the peak to the memory in use now (proc(5)).
  writeFileSync(`/proc/${proxy.pid}/clear_refs`, '5');
  const taken = await take();
  return { ...taken, addedBytes: readMemory('VmHWM') - beforeBytes };
}

const EXPECTED = describeResult(RECORDS);
const NORMALIZED = describeResult(
  Buffer.from(
    RECORDS.toString()
      .replaceAll('[7, "Azure Interior"]', '{"id": 7, "name": "Azure Interior"}')
      .replaceAll('"2026-10-21 01:31:00"', '"2026-10-21T01:31:00Z"'),
  ),
);

function describeResult(records: Buffer): { bytes: number; hash: string } {
  const hash = createHash('sha1').update(`${OUR_HEAD}[`);
  for (let piece = 0; piece < PIECES; piece++) hash.update(records);
  return {
    bytes: OUR_HEAD.length + 1 + PIECES * records.length + 2,
    hash: hash.update(']}').digest('hex'),
  };
}

async function sendResult(
  socket: Socket,
  { framing, packed, content = RECORDS_CONTENT }: Plan,
): Promise<void> {
  const pack = packed === null ? (bytes: Buffer) => bytes : PACKERS[packed];
  const start = pack(Buffer.from(content.start));
  const piece = pack(content.piece);
  const end = pack(Buffer.from(content.end));
  const length = start.length + content.pieces * piece.length + end.length;
  writeHead(socket, framing, length, packed === null ? '' : `Content-Encoding: ${packed}\r\n`);
  writePiece(socket, framing, start);
  for (let sent = 0; sent < content.pieces && !socket.destroyed; sent++) {
    if (!writePiece(socket, framing, piece)) await untilWritable(socket);
  }
  writePiece(socket, framing, end);
  writeEnd(socket, framing);
}

interface Taken {
  bytes: number;
  hash: string;
}

function takeResult(headers: Record<string, string>): Promise<Taken> {
  return takeAnswer('/api/erp/execute', makeCall(upstream.url), headers);
}

function takeFile(): Promise<Taken> {
  const { erp_instance } = makeCall(upstream.url);
  return takeAnswer('/api/erp/download', {
    model_id: 'ir.attachment',
    record: 7,
    field: 'datas',
    erp_instance,
  });
}

/** Counts and hashes an answer without storing it. */
function takeAnswer(path: string, call: object, headers: Record<string, string> = {}): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(proxyUrl + path, {
      method: 'POST',
      headers: {
        'x-proxy-api': key,
        'content-type': 'application/json',
        'x-request-timeout': '300',
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const encoding = response.headers['content-encoding'];
      const body = encoding === undefined ? response : response.pipe(createDecoder(encoding));
      const hash = createHash('sha1');
      let bytes = 0;
      response.on('error', reject);
      body.on('error', reject);
      body.on('data', (piece: Buffer) => {
        bytes += piece.length;
        hash.update(piece);
      });
      body.on('end', () => resolve({ bytes, hash: hash.digest('hex') }));
    });
    request.end(JSON.stringify(call));
  });
}

function readMemory(name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${proxy.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}

function makeRecords(): Buffer {
  let text = '';
  for (let id = 1; text.length < MEBIBYTE; id++) {
    const amount = ((id * 2654435761) % 1_000_003) / 100;
    text += `{"id": ${id}, "name": "Contact ${(id * 48271) % 65_537}", "amount": ${amount}, "active": true, "parent_id": [7, "Azure Interior"], "when": "2026-10-21 01:31:00"}, `;
  }
  return Buffer.from(
    text
      .slice(0, MEBIBYTE - 1)
      .replace(/\}, [^}]*$/, '}, ')
      .padEnd(MEBIBYTE, ' '),
  );
}

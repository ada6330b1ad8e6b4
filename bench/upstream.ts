/**
 * The upstream of all subjects, a process of its own. Answers any POST with a fixed body, on a bare socket to save
 * processor time. It has one port for each kind of answer, and reports the ports when it is ready.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { TEST_CERTIFICATE, TEST_KEY } from '../packages/egress/test/test-certificate.ts';
import { FIELD_TYPES, printRecords } from './records.ts';

/** `keep` leaves the connection open; `close` closes it like Odoo's workers (HTTP/1.0). */
export type ConnectionMode = 'keep' | 'close';

export interface UpstreamPorts {
  small: Record<ConnectionMode, number>;
  large: Record<ConnectionMode, number>;
  /** The port that answers with 200 MB. */
  huge: number;
  /**
   * The port that answers with a megabyte of records with fields of the usual types, or with their types for
   * `fields_get`.
   */
  records: number;
  /**
   * Ports that answer with a few such records. The message `opened` asks for the number of their connections so far.
   */
  fewRecords: Record<ConnectionMode, number>;
  /** The port that holds all answers between the messages `hold` and `release`. */
  held: number;
  /**
   * Small answers over TLS, for `localhost`. The message `handshakes` asks for the number of connections that these
   * ports have got so far, and of those that resumed a TLS session.
   */
  https: Record<ConnectionMode, number>;
  /** The same with kept connections, a port for each database. */
  httpsDatabases: number[];
}

/** Counts of the https ports. */
export interface Handshakes {
  opened: number;
  resumed: number;
}

export const SMALL_BYTES = 300;
export const LARGE_BYTES = 100_000;
export const HUGE_BYTES = 200_000_000;
export const RECORDS_BYTES = 1_000_000;
export const FEW_RECORDS_BYTES = 2000;
export const HTTPS_DATABASES = 100;

const HUGE_PIECE = Buffer.alloc(64 * 1024, 'a');
const RESULT_START = '{"jsonrpc": "2.0", "id": 1, "result": ';

type Respond = (socket: Socket, request: string) => void;

if (process.send !== undefined) await serve();

async function serve(): Promise<void> {
  const held: Socket[] = [];
  const handshakes: Handshakes = { opened: 0, resumed: 0 };
  let opened = 0;
  const release = answer('close', SMALL_BYTES);
  let isHolding = false;
  const ports: UpstreamPorts = {
    small: {
      keep: await listen(answer('keep', SMALL_BYTES)),
      close: await listen(answer('close', SMALL_BYTES)),
    },
    large: {
      keep: await listen(answer('keep', LARGE_BYTES)),
      close: await listen(answer('close', LARGE_BYTES)),
    },
    huge: await listen((socket) => void sendHuge(socket)),
    records: await listen(answerRecords('keep', RECORDS_BYTES)),
    fewRecords: {
      keep: await listen(answerRecords('keep', FEW_RECORDS_BYTES), () => opened++),
      close: await listen(answerRecords('close', FEW_RECORDS_BYTES), () => opened++),
    },
    held: await listen((socket) => (isHolding ? held.push(socket) : release(socket, ''))),
    https: {
      keep: await listenTls(answer('keep', SMALL_BYTES), handshakes),
      close: await listenTls(answer('close', SMALL_BYTES), handshakes),
    },
    httpsDatabases: await Promise.all(
      Array.from({ length: HTTPS_DATABASES }, () => listenTls(answer('keep', SMALL_BYTES), handshakes)),
    ),
  };
  process.on('message', (message) => {
    if (message === 'hold') isHolding = true;
    if (message === 'release') {
      // Calls that arrive after the release are answered at once: nothing would release them later.
      isHolding = false;
      for (const socket of held.splice(0)) release(socket, '');
    }
    if (message === 'handshakes') process.send?.(handshakes);
    else process.send?.(message === 'opened' ? opened : held.length);
  });
  process.on('disconnect', () => process.exit());
  process.send?.(ports);
}

function listen(respond: Respond, onConnection = () => {}): Promise<number> {
  return listenOn(
    createServer({ noDelay: true }, (socket) => {
      onConnection();
      readRequests(socket, respond);
    }),
  );
}

function listenTls(respond: Respond, handshakes: Handshakes): Promise<number> {
  const identity = { key: TEST_KEY, cert: TEST_CERTIFICATE };
  return listenOn(
    createTlsServer({ ...identity, noDelay: true }, (socket) => {
      handshakes.opened++;
      if (socket.isSessionReused()) handshakes.resumed++;
      readRequests(socket, respond);
    }),
  );
}

async function listenOn(server: Server): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function readRequests(socket: Socket, respond: Respond): void {
  let request = '';
  let missingBytes = 0;
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    request += bytes.toString('latin1');
    if (missingBytes === 0) {
      const headEnd = request.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(request)?.[1]);
      missingBytes = headEnd + 4 + length - request.length;
    } else {
      missingBytes -= bytes.length;
    }
    if (missingBytes > 0) return;
    respond(socket, request);
    request = '';
  });
}

/** Builds the answer of a search: many small records in Odoo's format, with about this many bytes. */
function answer(mode: ConnectionMode, bodyBytes: number): Respond {
  const record = '{"id": 1, "name": "Azure Interior", "email": "azure@example.com", "active": true}';
  const records = Array(Math.floor((bodyBytes - RESULT_START.length - 3) / (record.length + 2))).fill(record);
  return answerWith(mode, `${RESULT_START}[${records.join(', ')}]`.padEnd(bodyBytes - 1).concat('}'));
}

function answerWith(mode: ConnectionMode, body: string): Respond {
  const whole = Buffer.from(buildHead(mode, body.length) + body);
  return mode === 'keep' ? (socket) => socket.write(whole) : (socket) => socket.end(whole);
}

function answerRecords(mode: ConnectionMode, bytes: number): Respond {
  const types = answerWith(mode, `${RESULT_START}${JSON.stringify(FIELD_TYPES)}}`);
  const records = answerWith(mode, `${RESULT_START}${printRecords(bytes)}}`);
  return (socket, request) => (request.includes('"fields_get"') ? types : records)(socket, request);
}

async function sendHuge(socket: Socket): Promise<void> {
  const end = '"}';
  socket.write(`${buildHead('close', HUGE_BYTES)}${RESULT_START}"`);
  let missingBytes = HUGE_BYTES - RESULT_START.length - 1 - end.length;
  while (missingBytes > 0 && !socket.destroyed) {
    const piece = HUGE_PIECE.subarray(0, missingBytes);
    missingBytes -= piece.length;
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  socket.end(end);
}

function buildHead(mode: ConnectionMode, bodyBytes: number): string {
  return [
    mode === 'keep' ? 'HTTP/1.1 200 OK' : 'HTTP/1.0 200 OK',
    'Server: Werkzeug/2.2.2 Python/3.11.2',
    'Date: Thu, 01 Jan 2026 00:00:00 GMT',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${bodyBytes}`,
    mode === 'keep' ? 'Connection: keep-alive' : 'Connection: close',
    '\r\n',
  ].join('\r\n');
}

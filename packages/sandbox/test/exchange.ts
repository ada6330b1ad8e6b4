/**
 * Sends one recorded request on a plain socket and parses the answer without Node's HTTP, so that tests see every byte.
 */
import { connect } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly httpVersion: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
}

export interface Answer {
  readonly httpVersion: string;
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export async function exchange(url: string, request: RecordedRequest): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(printRequest(request));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return parseAnswer(Buffer.concat(chunks));
}

function printRequest({ method, path, httpVersion, headers, body }: RecordedRequest): Buffer {
  const { bytes, announced } = printBody(body);
  const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'content-length');
  const lines = kept.map(([name, value]) => `${name}: ${value}\r\n`);
  if (bytes && !isChunked) lines.push(`Content-Length: ${announced ?? bytes.length}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`);
  if (!bytes) return head;
  if (!isChunked) return Buffer.concat([head, bytes]);
  return Buffer.concat([
    head,
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
}

// The body as bytes. The recorder replaced bodies that are not text by a description.
function printBody(body: string | null): { bytes: Buffer | undefined; announced?: number } {
  if (body === null) return { bytes: undefined };
  if (body.startsWith('<Content-Length')) return { bytes: Buffer.from('{"a": '), announced: 134217729 };
  if (body.startsWith('<bytes:')) {
    const [before, after] = ['{"id":"', '","params":{"service":"common","method":"version","args":[]}}'].map(
      (text) => Buffer.from(text),
    );
    return { bytes: Buffer.concat([before!, Buffer.from([0xff, 0xfe]), after!]) };
  }
  return { bytes: Buffer.from(body.replace(/^<UTF-8 BOM>/, '\ufeff').replace(/^<chunked> /, '')) };
}

function parseAnswer(bytes: Buffer): Answer {
  const split = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, split).toString().split('\r\n');
  const [, httpVersion = '', status = '', reason = ''] = /^HTTP\/(\S+) (\d+) (.*)$/.exec(statusLine) ?? [];
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { httpVersion, status: Number(status), reason, headers, body: bytes.subarray(split + 4).toString() };
}

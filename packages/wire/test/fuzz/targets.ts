/** What is fuzzed, and which behaviour is wrong. */
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { AnswerReader, AnswerSyntaxError, ChunkReader } from '../../src/client/answer-reader.ts';
import { type Coding, decodeBody } from '../../src/client/decode.ts';
import { buildRequest } from '../../src/client/request-bytes.ts';
import { type PlainRequest, readPlainRequest } from '../../src/server/plain-call.ts';
import { compareWithNode, readByNode } from '../compare-with-node.ts';
import type { FuzzTarget } from './fuzz.ts';

const HEADER_WORDS = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  ': ',
  ':',
  ' ',
  '\t',
  ',',
  ';',
  '\0',
  '\x80',
  '0',
  '1',
  '9'.repeat(9),
  'f'.repeat(13),
  'content-length: ',
  'content-length: 3\r\n',
  'transfer-encoding: ',
  'transfer-encoding: chunked\r\n',
  'connection: close\r\n',
  'connection: keep-alive\r\n',
  'content-encoding: gzip\r\n',
  'keep-alive: timeout=5\r\n',
];

/** `read`: the reader of plain requests, or one with a fault that must be found. */
export function fuzzPlainRequests(
  read: (bytes: Buffer) => PlainRequest | null = readPlainRequest,
): FuzzTarget {
  return {
    name: 'plain-request',
    seeds: [
      'POST /api/erp/execute HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Note:\t a \r\n\r\n',
    ],
    words: [
      ...HEADER_WORDS,
      'POST ',
      'GET ',
      '/',
      ' HTTP/1.1\r\n',
      'host: y\r\n',
      'expect: 100-continue\r\n',
      'upgrade: h2c\r\n',
      'proxy-connection: close\r\n',
    ],
    run(input) {
      const found = compareWithNode(input, read);
      if (found === 'not plain') {
        // Coverage does not see into regular expressions. What Node finds tells apart what is almost plain.
        const { requests, error } = readByNode(input);
        return [found, `${describeSize(requests.length)} requests for Node, ${describeError(error)}`];
      }
      if (found !== null) throw new Error(found);
      const plain = read(input) as PlainRequest;
      return [
        `${describeSize(plain.headers.size)} headers`,
        `closes: ${plain.closes}`,
        `${Math.sign(plain.bodyBytes)} body`,
      ];
    },
  };
}

/** What an answer, or its body in chunks, was read as, however it was split. */
interface Reading {
  head: string;
  body: string;
  isWhole: boolean;
  hasMore: boolean;
  error: 'syntax' | null;
}

function readAnswer(pieces: readonly Buffer[]): Reading {
  const reading: Reading = { head: '', body: '', isWhole: false, hasMore: false, error: null };
  const reader = new AnswerReader({
    onHead(head) {
      if (reading.head !== '') throw new Error('a second head');
      reading.head = JSON.stringify(head);
    },
    onPiece(piece) {
      if (reading.head === '' || reading.isWhole) throw new Error('bytes outside of the body');
      reading.body += piece.toString('latin1');
    },
    onEnd(hasMore) {
      if (reading.isWhole) throw new Error('a second end');
      reading.isWhole = true;
      reading.hasMore = hasMore;
    },
  });
  try {
    for (const piece of pieces) {
      if (reading.isWhole && piece.length > 0) reading.hasMore = true;
      reader.take(piece);
    }
    if (reader.finish() !== reading.isWhole)
      throw new Error('finish() does not tell whether there was an end');
  } catch (error) {
    if (!(error instanceof AnswerSyntaxError)) throw error;
    reading.error = 'syntax';
    // How much came before the fault depends on the pieces.
    if (reading.isWhole) throw new Error('a fault after the end', { cause: error });
    reading.head = '';
    reading.body = '';
  }
  return reading;
}

function readChunks(pieces: readonly Buffer[]): Reading {
  const reading: Reading = { head: '', body: '', isWhole: false, hasMore: false, error: null };
  const reader = new ChunkReader();
  const sink = {
    onPiece(piece: Buffer) {
      reading.body += piece.toString('latin1');
    },
  };
  try {
    for (const piece of pieces) {
      const end = reading.isWhole ? 0 : reader.take(piece, 0, sink);
      reading.isWhole = end !== null;
      if (end !== null && end < piece.length) reading.hasMore = true;
    }
  } catch (error) {
    if (!(error instanceof AnswerSyntaxError)) throw error;
    reading.error = 'syntax';
    reading.body = '';
  }
  return reading;
}

/** Reads the bytes in one piece, byte by byte, and in pieces of which the first is a part of the input. */
function readSplit(input: Buffer, read: (pieces: readonly Buffer[]) => Reading): Reading {
  const whole = read([input]);
  for (const size of [1, 1 + ((input[0] ?? 0) % 7), 1 + Math.floor(input.length / 3)]) {
    const pieces = cut(input, size);
    const reading = read(pieces);
    const [one, other] = [JSON.stringify(whole), JSON.stringify(reading)];
    if (one !== other) throw new Error(`${one} as a whole, but ${other} in pieces of ${size}`);
  }
  return whole;
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

const describeError = (error: Error | null) => (error !== null && 'code' in error ? error.code : error);
const describeSize = (bytes: number) => 32 - Math.clz32(bytes);

const ANSWERS: FuzzTarget = {
  name: 'answer',
  seeds: [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'HTTP/1.1 103 Early\r\n\r\nHTTP/1.0 200\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\nhello',
  ],
  words: [
    ...HEADER_WORDS,
    'HTTP/1.1 ',
    'HTTP/1.0 ',
    '200 OK\r\n',
    '204',
    '304',
    '100',
    '101',
    '5;a="b"\r\nhello\r\n',
  ],
  run(input) {
    const { head, body, isWhole, hasMore, error } = readSplit(input, readAnswer);
    if (error !== null) return [error];
    const { framing, isLast, keptMs, headers } = head === '' ? {} : JSON.parse(head);
    const count = describeSize(Object.keys(headers ?? {}).length);
    return [
      `${typeof framing}, last: ${isLast}`,
      `kept: ${typeof keptMs}`,
      `${count} headers`,
      `${describeSize(body.length)} body`,
      `whole: ${isWhole}, more: ${hasMore}`,
    ];
  },
};

const CHUNKS: FuzzTarget = {
  name: 'chunks',
  seeds: ['5\r\nhello\r\n0\r\n\r\n', 'a;b=c\r\n0123456789\r\n00\r\nx: y\r\n\r\nmore'],
  words: [...HEADER_WORDS, '0\r\n', '0\r\n\r\n', '3\r\nabc\r\n', ';a="b"', 'x: y\r\n'],
  run(input) {
    const { body, isWhole, hasMore, error } = readSplit(input, readChunks);
    return [`${describeSize(body.length)} body`, `whole: ${isWhole}, more: ${hasMore}, ${error}`];
  },
};

const CODINGS: Coding[] = ['gzip', 'br', 'zstd', 'deflate'];
/** A decoder that has not ended after this time hangs. */
const HANGING_MS = 60_000;

const BODIES: FuzzTarget = {
  name: 'body',
  // The first byte selects the coding, the second one the size of the pieces. Each is an empty or a short text.
  seeds: [
    '\0\x10\x1f\x8b\x08\0\0\0\0\0\0\x03\xcbH\xcd\xc9\xc9\x07\0\x86\xa6\x106\x05\0\0\0',
    '\x01\x03\x0b\x02\x80hello\x03',
    '\x02\x05(\xb5/\xfd \x05)\0\0hello',
    '\x03\x20x\x9c\xcbH\xcd\xc9\xc9\x07\0\x06,\x02\x15',
    '\x03\x20\xcbH\xcd\xc9\xc9\x07\0',
  ],
  words: ['\x1f\x8b\x08', '\xff\xff', '\0\0', '(\xb5/\xfd', 'x\x9c', '\x01\0\0', '\x03\0'],
  async run(input) {
    const coding = CODINGS[(input[0] ?? 0) % CODINGS.length] as Coding;
    const pieces = cut(input.subarray(2), 1 + (input[1] ?? 0));
    const reading = readStream(decodeBody(new ScriptedStream(...pieces, null), coding)).catch(
      (error: unknown) => {
        if (error instanceof ByteStreamError) return error.reason;
        throw error;
      },
    );
    const read = await waitFor(reading, { timeoutMs: HANGING_MS });
    if (read === TIMED_OUT) throw new Error(`the ${coding} body has neither ended nor failed`);
    return [`${coding} ${typeof read === 'string' ? read : describeSize(read.length)}`];
  },
};

const REQUESTS: FuzzTarget = {
  name: 'request',
  // Lines: path, names and values in turn, and the rest is the body.
  seeds: ['/a?b=c\ncontent-type\napplication/json\n{}', '/'],
  words: [...HEADER_WORDS, 'host', 'Content-Length', 'te', 'expect', '/', '\n'],
  run(input) {
    const [path = '', ...rest] = input.toString('latin1').split('\n');
    const body = rest.length % 2 === 0 ? null : Buffer.from(rest.pop() as string, 'latin1');
    const headers: Record<string, string> = Object.create(null);
    for (let index = 0; index < rest.length; index += 2)
      headers[rest[index] as string] = rest[index + 1] as string;
    let bytes: Buffer;
    try {
      bytes = Buffer.concat(buildRequest({ method: 'POST', path, headers, body }, 'erp.test'));
    } catch (error) {
      if (error instanceof TypeError) return ['refused'];
      throw error;
    }
    const sent = [
      ['host', 'erp.test'],
      ['connection', 'keep-alive'],
      ...Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        value.replace(/^[\t ]+|[\t ]+$/g, ''),
      ]),
      ...(body === null ? [] : [['content-length', String(body.length)]]),
    ];
    const expected = {
      method: 'POST',
      path,
      headers: sent,
      body: body?.toString('latin1') ?? '',
      keepsConnection: true,
    };
    const { requests, error } = readByNode(bytes);
    const [ours, theirs] = [JSON.stringify([expected]), JSON.stringify(requests)];
    if (error !== null || ours !== theirs)
      throw new Error(`sent ${ours}, but Node reads ${theirs}, ${error}`);
    return [`${describeSize(sent.length)} headers`, `${describeSize(body?.length ?? 0)} body`];
  },
};

export const TARGETS: readonly FuzzTarget[] = [fuzzPlainRequests(), ANSWERS, CHUNKS, BODIES, REQUESTS];

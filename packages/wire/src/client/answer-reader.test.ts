/** Parses answers that are split in all ways, and bytes that must not be accepted as an answer. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { type AnswerHead, AnswerReader, AnswerSyntaxError } from './answer-reader.ts';

interface Read {
  head: AnswerHead | null;
  body: string;
  /** Null while the answer is incomplete. */
  hasMore: boolean | null;
}

/** Parses these pieces. `ends`: the connection ends after them. */
function read(pieces: readonly Buffer[], ends = false): Read {
  const out: Read = { head: null, body: '', hasMore: null };
  const reader = new AnswerReader({
    onHead(head) {
      expect(out.head).toBeNull();
      out.head = head;
    },
    onPiece(piece) {
      expect(out.head).not.toBeNull();
      expect(out.hasMore).toBeNull();
      expect(piece.length).toBeGreaterThan(0);
      out.body += piece.toString('latin1');
    },
    onEnd(hasMore) {
      expect(out.hasMore).toBeNull();
      out.hasMore = hasMore;
    },
  });
  for (const piece of pieces) reader.take(piece);
  if (ends) expect(reader.finish()).toBe(out.hasMore !== null);
  return out;
}

const readText = (text: string, ends = false) => read([Buffer.from(text, 'latin1')], ends);

/** Splits the bytes at these positions. */
function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

const HEADERS = 'Server: Werkzeug\r\nX-Empty:\r\nSet-Cookie: a=b; Path=/\r\n';

/** A whole answer with this body, in one of the framings. */
const answers = fc
  .record({
    body: fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
    framing: fc.constantFrom('length', 'chunked', 'connection'),
    chunkLengths: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
    interim: fc.constantFrom(
      '',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    ),
    trailer: fc.constantFrom('', 'X-Trailer: 1\r\n'),
  })
  .map(({ body, framing, chunkLengths, interim, trailer }) => {
    const head = `${interim}HTTP/1.1 200 OK\r\n${HEADERS}`;
    if (framing === 'length')
      return { body, framing, text: `${head}Content-Length: ${body.length}\r\n\r\n${body}` };
    if (framing === 'connection') return { body, framing, text: `${head}\r\n${body}` };
    let chunks = '';
    for (let index = 0, turn = 0; index < body.length; turn++) {
      const chunk = body.slice(index, index + (chunkLengths[turn % chunkLengths.length] as number));
      chunks += `${chunk.length.toString(16)}${turn % 2 === 0 ? '' : ';name="value"'}\r\n${chunk}\r\n`;
      index += chunk.length;
    }
    return { body, framing, text: `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n${trailer}\r\n` };
  });

const cuts = fc.array(fc.nat(2000), { maxLength: 12 });

describe('interim answers', () => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

  test('are ignored, up to sixteen', () => {
    expect(readText(interim.repeat(16) + answer).head?.status).toBe(200);
    expect(() => readText(interim.repeat(17) + answer)).toThrow(AnswerSyntaxError);
  });

  test('are counted however their bytes are split', () => {
    const bytes = Buffer.from(interim.repeat(17));
    expect(() =>
      read(
        bytes
          .toString('latin1')
          .split('')
          .map((byte) => Buffer.from(byte)),
      ),
    ).toThrow(AnswerSyntaxError);
  });
});

describe('an answer', () => {
  test('is the same however its bytes are split', () => {
    fc.assert(
      fc.property(answers, cuts, ({ text, body, framing }, places) => {
        const result = read(split(Buffer.from(text, 'latin1'), places), framing === 'connection');
        expect(result).toMatchObject({ body, hasMore: false, head: { status: 200 } });
        expect(result.head?.headers).toMatchObject({
          server: 'Werkzeug',
          'x-empty': '',
          'set-cookie': 'a=b; Path=/',
        });
      }),
    );
  });

  test('can arrive byte by byte', () => {
    const text = `HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    expect(read(bytes)).toMatchObject({ body: 'hello', hasMore: false });
  });

  test('is never complete before its last byte', () => {
    fc.assert(
      fc.property(answers, fc.nat(2000), ({ text, framing }, place) => {
        fc.pre(framing !== 'connection');
        const bytes = Buffer.from(text, 'latin1').subarray(0, place % text.length);
        expect(read([bytes], true).hasMore).toBeNull();
      }),
    );
  });

  test('reports further bytes after it, and passes none of them on', () => {
    fc.assert(
      fc.property(answers, cuts, ({ text, body, framing }, places) => {
        fc.pre(framing !== 'connection');
        const pieces = split(Buffer.from(text, 'latin1'), places);
        const end = pieces.pop() as Buffer;
        fc.pre(end.length > 0);
        const last = Buffer.concat([end, Buffer.from('HTTP/1.1 200 OK\r\n\r\nevil')]);
        expect(read([...pieces, last])).toMatchObject({ body, hasMore: true });
      }),
    );
  });

  test('of random bytes gives a syntax error or nothing, and no other error', () => {
    const start = fc.constantFrom(
      '',
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), cuts, (text, noise, places) => {
        try {
          read(split(Buffer.concat([Buffer.from(text), noise]), places));
        } catch (error) {
          expect(error).toBeInstanceOf(AnswerSyntaxError);
        }
      }),
    );
  });
});

describe('a head', () => {
  const readHead = (text: string) => readText(text.endsWith('\r\n\r\n') ? text : `${text}\r\n\r\n`).head;

  test.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 5', { framing: 5, isLast: false }],
    ['HTTP/1.1 200\r\nContent-Length:\t5 ', { framing: 5, isLast: false }],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: x, Close', { framing: 5, isLast: true }],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5', { framing: 5, isLast: true }],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive', { framing: 5, isLast: false }],
    [
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked',
      { framing: 'chunked', isLast: true },
    ],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked', { framing: 'chunked', isLast: false }],
    ['HTTP/1.1 200 OK', { framing: 'connection', isLast: true }],
    ['HTTP/1.1 204 No Content', { framing: 0, isLast: false }],
    ['HTTP/1.1 304 Not Modified\r\nContent-Length: 5', { framing: 0, isLast: false }],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=5, max=99', { framing: 5, keptMs: 5000 }],
  ])('defines the end of the body and the use of the connection: %j', (text, expected) => {
    expect(readHead(text)).toMatchObject(expected);
  });

  test('can have a header with the name of an object member', () => {
    const headers = readHead('HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nConstructor: c')?.headers;
    expect(Object.entries(headers ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', ['b', 'c']],
    ]);
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP/0.9', '<html></html>\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['an empty line first', '\r\nHTTP/1.1 200 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 099 No\r\n\r\n'],
    ['two blanks', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nX-A: b\r\n c: d\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nX-A\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: a\r\n\r\n'],
    ['a blank before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n'],
    ['a bare LF', 'HTTP/1.1 200 OK\r\nX-A: b\nContent-Length: 5\r\n\r\n'],
    ['a bare CR', 'HTTP/1.1 200 OK\r\nX-A: b\rContent-Length: 5\r\n\r\n'],
    ['a NUL', 'HTTP/1.1 200 OK\r\nX-A: b\0\r\n\r\n'],
    ['both framings', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n'],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n'],
    ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n'],
    ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n'],
    ['a length beyond exact numbers', 'HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n'],
    ['a length with a blank that is none', 'HTTP/1.1 200 OK\r\nContent-Length: \xa05\r\n\r\n'],
    ['a coding of ours that is not there', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'],
    ['chunks twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a coding that hides', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n'],
    ['no end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40_000)}`],
    ['too many bytes', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`],
  ])('with %s is refused', (_what, text) => {
    expect(() => readText(text)).toThrow(AnswerSyntaxError);
    expect(() => read(Array.from(Buffer.from(text, 'latin1'), (byte) => Buffer.from([byte])))).toThrow(
      AnswerSyntaxError,
    );
  });

  test('of blanks takes time proportional to its length', async () => {
    const print = (filling: string) =>
      `HTTP/1.1 200 OK\r\nX-A: ${filling.repeat(30_000)}b${filling.repeat(2_000)}\r\n\r\n`;
    const [blanks, letters] = [print(' '), print('a')];
    const readOften = (text: string) => {
      for (let round = 0; round < 10; round++) readText(text);
    };
    // Quadratic time would be thousands of times as much.
    await expectCpuBelow(
      100,
      () => readOften(blanks),
      () => readOften(letters),
    );
  });
});

describe('chunks', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

  test.each([
    ['no size', '\r\nhello\r\n0\r\n\r\n'],
    ['a size that is no number', 'x\r\nhello\r\n0\r\n\r\n'],
    ['a size with a prefix', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a signed size', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a blank before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a blank behind the size', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a size beyond exact numbers', '10000000000000000\r\nhello'],
    ['a bare LF behind the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare LF behind the data', '5\r\nhello\n0\r\n\r\n'],
    ['a bare CR in the size', '5\r;\r\nhello\r\n0\r\n\r\n'],
    ['more data than the size says', '5\r\nhello!\r\n0\r\n\r\n'],
    ['less data than the size says', '6\r\nhello\r\n0\r\n\r\n'],
    ['an extension without end', `5;${'a'.repeat(5_000)}`],
    ['a trailer that is no header', '0\r\nnonsense\r\n\r\n'],
    ['trailers without end', `0\r\n${'a: b\r\n'.repeat(200)}`],
  ])('with %s are refused', (_what, text) => {
    expect(() => readText(HEAD + text)).toThrow(AnswerSyntaxError);
    expect(() => read(Array.from(Buffer.from(HEAD + text), (byte) => Buffer.from([byte])))).toThrow(
      AnswerSyntaxError,
    );
  });

  test('that end with the connection are not complete', () => {
    expect(readText(`${HEAD}5\r\nhello\r\n`, true).hasMore).toBeNull();
    expect(readText(`${HEAD}5\r\nhello\r\n0\r\n`, true).hasMore).toBeNull();
  });
});

test('a head in single bytes costs time in proportion to its length', async () => {
  const take = (length: number) => {
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(length)}`);
    const reader = new AnswerReader({ onHead() {}, onPiece() {}, onEnd() {} });
    for (let at = 0; at < bytes.length; at++) reader.take(bytes.subarray(at, at + 1));
  };
  take(31_000);
  // Ten times as many bytes: a hundred times as much if each byte copied those before it.
  await expectCpuBelow(
    30,
    () => take(31_000),
    () => take(3_100),
  );
});

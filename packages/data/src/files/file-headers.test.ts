import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { describeFile, readByteRange } from './file-headers.ts';

function disposition(name: string | null): string {
  return describeFile({ name, mediaType: null })['content-disposition'] as string;
}

test.each([
  ['report.pdf', 'attachment; filename="report.pdf"'],
  [
    'Übersicht 2026.pdf',
    `attachment; filename="_bersicht 2026.pdf"; filename*=UTF-8''%C3%9Cbersicht%202026.pdf`,
  ],
  [
    'INV/2026/00001.pdf',
    `attachment; filename="INV_2026_00001.pdf"; filename*=UTF-8''INV%2F2026%2F00001.pdf`,
  ],
  ['a"b\\c', `attachment; filename="a_b_c"; filename*=UTF-8''a%22b%2Fc`],
  ['../../etc/passwd', `attachment; filename="etc_passwd"; filename*=UTF-8''etc%2Fpasswd`],
  ['/./a/.../b.', `attachment; filename="a_b."; filename*=UTF-8''a%2Fb.`],
  ['.htaccess', 'attachment; filename="htaccess"'],
  [
    'x\r\nset-cookie: a=1',
    `attachment; filename="xset-cookie_ a=1"; filename*=UTF-8''xset-cookie%3A%20a%3D1`,
  ],
  ["it's (1).txt", 'attachment; filename="it\'s (1).txt"'],
  ['evil\u202Efdp.exe', 'attachment; filename="evilfdp.exe"'],
  ['..', 'attachment'],
  ['', 'attachment'],
  [null, 'attachment'],
])('the name %j is %s', (name, expected) => {
  expect(disposition(name)).toBe(expected);
});

test('a long name keeps its kind', () => {
  expect(disposition(`${'a'.repeat(5000)}.tar.gz`)).toBe(`attachment; filename="${'a'.repeat(193)}.tar.gz"`);
});

test('no name and no media type can add a header or a parameter', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'a"\\;\r\n\u0000=*%é𝄞') }),
  );
  fc.assert(
    fc.property(text, text, (name, mediaType) => {
      const headers = describeFile({ name, mediaType });
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
      expect(headers['content-disposition']).toMatch(
        /^attachment(; filename="[^"\\]*"(; filename\*=UTF-8''[\w.!~%-]*)?)?$/,
      );
      expect(headers['content-type']).toMatch(/^[^\s;,"]+\/[^\s;,"]+$/);
    }),
    { numRuns: countCases(2000) },
  );
});

test.each(['text/html', 'image/svg+xml', 'application/vnd.ms-excel'])(
  '%s is passed on, and never shown',
  (type) => {
    expect(describeFile({ name: 'x', mediaType: type })).toMatchObject({
      'content-type': type,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment; filename="x"',
    });
  },
);

test.each(['text', 'text/html; charset=utf-7', 'text/html\r\nx: y', '', 'a/b/c', null])(
  '%j is no media type',
  (mediaType) => {
    expect(describeFile({ name: null, mediaType })['content-type']).toBe('application/octet-stream');
  },
);

test.each([
  ['bytes=0-99', { start: 0, end: 99 }],
  ['bytes=500-', { start: 500, end: 999 }],
  ['bytes=-100', { start: 900, end: 999 }],
  ['bytes=-5000', { start: 0, end: 999 }],
  ['bytes=990-5000', { start: 990, end: 999 }],
  ['bytes=999-999', { start: 999, end: 999 }],
  ['bytes=1000-', 'beyond_end'],
  ['bytes=-0', 'beyond_end'],
  ['bytes=5-4', null],
  ['bytes=0-1,5-6', null],
  ['bytes=-', null],
  ['bytes=a-b', null],
  ['lines=0-1', null],
  ['', null],
  [undefined, null],
])('%j of a thousand bytes is %j', (header, range) => {
  expect(readByteRange(header, 1000)).toEqual(range);
});

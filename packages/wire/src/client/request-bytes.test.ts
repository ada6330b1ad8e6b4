/** Tests the serialised request byte by byte. */
import { expect, test } from 'vitest';
import { buildRequest } from './request-bytes.ts';

const build = (headers: Record<string, string>, body: Uint8Array | null, path = '/a?b=c') =>
  buildRequest({ method: body === null ? 'GET' : 'POST', path, headers, body }, 'erp.test');

test.each([0, 1, 64 * 1024, 64 * 1024 + 1, 1024 * 1024])('a body of %d bytes follows its head', (length) => {
  const body = Buffer.alloc(length, '\xe9', 'latin1');
  const bytes = Buffer.concat(build({ 'x-a': 'b' }, body));
  const head = `POST /a?b=c HTTP/1.1\r\nhost: erp.test\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: ${length}\r\n\r\n`;
  expect(bytes.equals(Buffer.concat([Buffer.from(head), body]))).toBe(true);
});

test('a request without a body has no content-length', () => {
  expect(Buffer.concat(build({}, null)).toString()).toBe(
    'GET /a?b=c HTTP/1.1\r\nhost: erp.test\r\nconnection: keep-alive\r\n\r\n',
  );
});

test.each([
  'Host',
  'content-length',
  'Transfer-Encoding',
  'connection',
  'expect',
  'upgrade',
  '',
  'a b',
  'a:',
  'é',
])('refuses the header name %j', (name) => {
  expect(() => build({ [name]: 'x' }, null)).toThrow(TypeError);
});

test.each(['a\r\nb', 'a\nb', 'a\rb', 'a\0b', '\x7f', 'Ā', '\u{1f600}'])(
  'refuses the header value %j',
  (value) => {
    expect(() => build({ 'x-a': value }, null)).toThrow(TypeError);
  },
);

test.each(['', 'a', '*', '/a b', '/a\tb', '/a\r\nx: y', '/é'])('refuses the path %j', (path) => {
  expect(() => build({}, null, path)).toThrow(TypeError);
});

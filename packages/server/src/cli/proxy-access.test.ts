import { expect, test } from 'vitest';
import { makeLocalUrl } from './proxy-access.ts';

test.each([
  ['0.0.0.0', 'http://127.0.0.1:8787'],
  ['::', 'http://[::1]:8787'],
  ['127.0.0.1', 'http://127.0.0.1:8787'],
  ['::1', 'http://[::1]:8787'],
  ['proxy.example.com', 'http://proxy.example.com:8787'],
])('a server that listens on %s is reached at %s', (host, url) => {
  expect(makeLocalUrl(host, 8787)).toBe(url);
});

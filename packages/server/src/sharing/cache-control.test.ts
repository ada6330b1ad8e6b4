import { expect, test } from 'vitest';
import { readCacheWish } from './cache-control.ts';

test.each([
  [undefined, true, null],
  ['', true, null],
  ['max-age=60', true, 60_000],
  ['Max-Age="60"', true, 60_000],
  ['max-stale, max-age = 5 ,foo=bar', true, 5000],
  ['max-age=60, max-age=5', true, 5000],
  ['max-age=0', false, null],
  ['no-cache', false, null],
  ['max-age=60, No-Cache', false, null],
  ['no-store', false, null],
  ['no-cache="x"', false, null],
  ['max-age', true, null],
  ['max-age=-1', true, null],
  ['max-age=1.5', true, null],
  ['max-age=1e3', true, null],
  ['max-age=soon', true, null],
  [`max-age=${'9'.repeat(400)}`, true, Number.POSITIVE_INFINITY],
  [',,=,"', true, null],
])('%j: shares %s, takes answers of %j ms', (header, mayShare, maxAgeMs) => {
  expect(readCacheWish(header, true)).toEqual({ mayShare, maxAgeMs });
});

test('a key that may not have kept answers gets none, and may still have a call of its own', () => {
  expect(readCacheWish('max-age=60', false)).toEqual({ mayShare: true, maxAgeMs: null });
  expect(readCacheWish('no-cache', false)).toEqual({ mayShare: false, maxAgeMs: null });
});

test('nor does it join a call that may be older than it accepts', () => {
  expect(readCacheWish('max-age=1', false)).toEqual({ mayShare: false, maxAgeMs: null });
  expect(readCacheWish('max-age=2', false)).toEqual({ mayShare: true, maxAgeMs: null });
});

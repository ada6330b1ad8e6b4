import { expect, test } from 'vitest';
import { readCacheControl } from './cache-control.ts';

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
])('%j: may share: %s, maximum age: %j ms', (header, mayShare, maxAgeMs) => {
  expect(readCacheControl(header, true)).toEqual({ mayShare, maxAgeMs });
});

test('a key without permission for kept answers gets none, and can still ask for a call of its own', () => {
  expect(readCacheControl('max-age=60', false)).toEqual({ mayShare: true, maxAgeMs: null });
  expect(readCacheControl('no-cache', false)).toEqual({ mayShare: false, maxAgeMs: null });
});

test('such a key joins no call that can be older than the age it accepts', () => {
  expect(readCacheControl('max-age=1', false)).toEqual({ mayShare: false, maxAgeMs: null });
  expect(readCacheControl('max-age=2', false)).toEqual({ mayShare: true, maxAgeMs: null });
});

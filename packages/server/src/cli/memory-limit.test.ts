import { expect, test } from 'vitest';
import { makeSettings } from '../../test/harness.ts';
import { findMemoryShortage } from './memory-limit.ts';

const MIB = 1024 * 1024;
const find = (limitMiB: number, settings: Record<string, string> = {}) =>
  findMemoryShortage(limitMiB * MIB, makeSettings(settings));

test.each([
  [0, {}],
  [2 ** 43, {}],
  [1024, {}],
  [448, { 'http.bodiesBytesMax': '64MiB' }],
  [280, { 'http.bodiesBytesMax': '8MiB', 'http.bodyBytesMax': '8MiB' }],
  [2048, { workers: '2' }],
])('%d MiB are enough with %j, or there is no limit', (limitMiB, settings) => {
  expect(find(limitMiB, settings)).toBeNull();
});

test.each([
  [512, {}, 1024, /http\.bodiesBytesMax to at most 85MiB\.$/],
  [1024, { workers: '2' }, 2048, /http\.bodiesBytesMax to at most 85MiB\.$/],
  [300, {}, 1024, /http\.bodiesBytesMax to at most 14MiB, and http\.bodyBytesMax too\.$/],
  [256, {}, 1024, /limit to at least 280 MiB, and set .* to 8MiB\.$/],
])('%d MiB are too little with %j', (limitMiB, settings, neededMiB, advice) => {
  const found = find(limitMiB, settings);
  expect(found).toMatchObject({ limitMiB, neededMiB });
  expect(found?.advice).toMatch(advice);
});

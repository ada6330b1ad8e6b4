import { expect, test } from 'vitest';
import { EMPTY_INSTANCE, listRiskyChanges, toCheckInput, toInstanceChanges } from './instance-draft.ts';

const STORED = { ...EMPTY_INSTANCE, name: 'prod', url: 'https://a.example.com', db: 'a', user_id: 2 };

test('a change has only what differs, and a key only if one was typed', () => {
  expect(toInstanceChanges(STORED, STORED)).toEqual({});
  expect(toInstanceChanges(STORED, { ...STORED, timeout_ms: 5_000, certificates: '  ' })).toEqual({
    timeout_ms: 5_000,
  });
  expect(toInstanceChanges(STORED, { ...STORED, api_key: 'k' })).toEqual({ api_key: 'k' });
});

test('changes that could send the key to another server are named', () => {
  expect(listRiskyChanges(STORED, { ...STORED, db: 'b' })).toEqual([]);
  expect(listRiskyChanges(STORED, { ...STORED, url: 'https://b', allow_private: true })).toEqual([
    'the address',
    'private addresses',
  ]);
  expect(listRiskyChanges({ ...STORED, allow_private: true }, STORED)).toEqual([]);
});

test('a check sends what decides whether calls work', () => {
  const more = { timeout_ms: 5_000, concurrency: 2, allow_private: true, rotate_key: true };
  expect(Object.keys(toCheckInput({ ...STORED, ...more })).sort()).toEqual([
    'allow_private',
    'api_key',
    'certificates',
    'db',
    'protocol',
    'timeout_ms',
    'url',
    'user_id',
  ]);
});

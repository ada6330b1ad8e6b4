import { expect, test } from 'vitest';
import { readRedisAddress } from './address.ts';

test('parses the address, and its label has no credentials', () => {
  expect(readRedisAddress('redis://127.0.0.1')).toEqual({
    label: 'redis 127.0.0.1:6379/0',
    host: '127.0.0.1',
    port: 6379,
    db: 0,
  });
  expect(readRedisAddress('rediss://ep:p%40ss@[::1]:6380/3')).toEqual({
    label: 'redis [::1]:6380/3',
    host: '::1',
    port: 6380,
    db: 3,
    username: 'ep',
    password: 'p@ss',
    tls: {},
  });
});

test('accepts the schemes of Valkey', () => {
  expect(readRedisAddress('valkey://:secret@cache')).toMatchObject({ host: 'cache', password: 'secret' });
  expect(readRedisAddress('valkeys://cache')).toMatchObject({ host: 'cache', tls: {} });
});

test.each([
  ['', /is not an address/],
  ['cache:6379', /is not an address/],
  ['http://:secret@cache', /is not an address/],
  ['redis://', /names no host/],
  ['redis://:secret@cache/main', /not a number/],
  ['redis://:secret@cache?family=6', /behind a \?/],
  ['redis://:sec%ret@cache', /password in redis.url/],
])('refuses %s, and does not repeat the password', (text, message) => {
  expect(() => readRedisAddress(text)).toThrow(RangeError);
  expect(() => readRedisAddress(text)).toThrow(message);
  expect(() => readRedisAddress(text)).not.toThrow(/sec.?ret/);
});

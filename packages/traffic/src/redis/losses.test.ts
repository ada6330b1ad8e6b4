import { expect, test } from 'vitest';
import { findLosses } from './losses.ts';

const print = (members: Record<string, string>) =>
  Object.entries({ redis_version: '7.0.15', maxmemory_human: '0B', ...members })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('');

test.each([
  [{ aof_enabled: '1', maxmemory: '0', maxmemory_policy: 'noeviction' }, []],
  [{ aof_enabled: '1', maxmemory: '1000', maxmemory_policy: 'noeviction' }, []],
  [{ aof_enabled: '1', maxmemory: '0', maxmemory_policy: 'allkeys-lru' }, []],
  // A server without these members in `INFO`.
  [{}, []],
  [{ aof_enabled: '0' }, [/^appendonly is off/]],
  [
    { aof_enabled: '0', maxmemory: '1000', maxmemory_policy: 'volatile-ttl' },
    [/^appendonly is off/, /^maxmemory-policy is volatile-ttl/],
  ],
])('%j', (members, says) => {
  expect(findLosses(print(members))).toEqual(says.map((text) => expect.stringMatching(text)));
});

import { expect, test } from 'vitest';
import { describePolicy } from './describe-policy.ts';

test('a policy is described by what it allows at most', () => {
  expect(describePolicy(null)).toBe('none: it may do everything');
  expect(describePolicy({ unreadable: 'a newer version' })).toBe('unreadable: it makes no call');
  expect(
    describePolicy({ instances: ['prod'], models: { a: ['*'], b: ['*'], c: ['*'] }, read_only: true }),
  ).toBe('reads only · a, b and 1 more · on prod');
  expect(describePolicy({ origins: ['*'], models: { '*': ['*'] } })).toBe('reads and writes · * · on *');
});

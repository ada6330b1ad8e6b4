import { expect, test } from 'vitest';
import { listAllowedInstances } from './allowed-instances.ts';

const STORED = ['a-test', 'prod', 'prod-eu', 'shop'];

test.each([
  [['prod'], ['prod']],
  [['*'], STORED],
  [['prod*'], ['prod', 'prod-eu']],
  [['*-*'], ['a-test', 'prod-eu']],
  [['p*d'], ['prod']],
  [['prod*prod'], []],
  // A name need not be in the list of stored instances, which is only one page of them.
  [
    ['elsewhere', '*-test'],
    ['elsewhere', 'a-test'],
  ],
  [[''], []],
  [undefined, []],
])('instances of %j', (instances, names) => {
  const read = { policy: { models: {}, ...(instances === undefined ? {} : { instances }) } };
  expect(listAllowedInstances(read, STORED)).toEqual(names);
});

test('none without a policy that can be read', () => {
  expect(listAllowedInstances({ mistake: 'not JSON' }, STORED)).toEqual([]);
  expect(listAllowedInstances({ policy: { models: {}, instances: 7 as never } }, STORED)).toEqual([]);
});

/** Tests the bounds of what anybody can make the proxy do. */
import { expect, test } from 'vitest';
import { createRate } from './rates.ts';

test('bounds each address and all together, for ten minutes', () => {
  let now = 0;
  const rate = createRate({ perAddress: 2, total: 3 }, () => now);
  const take = (...addresses: string[]) => addresses.map((address) => rate.take(address));
  const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
  expect(take(one, one, one, two, two, three)).toEqual([true, true, false, true, false, false]);
  now = 599_999;
  expect(take(three)).toEqual([false]);
  now = 600_000;
  expect(take(three, one)).toEqual([true, true]);
});

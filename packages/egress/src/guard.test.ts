import { expect, test } from 'vitest';
import { createGuard } from './guard.ts';
import { checkAddress, checkOrigin, parseEgressPolicy } from './policy.ts';

test('remembered answers are those of a new check, for any number of addresses', () => {
  const { policy } = parseEgressPolicy(['10.0.0.0/16']);
  const target = checkOrigin(policy, 'https://erp.internal');
  if ('rule' in target) throw new Error(target.detail);
  const guard = createGuard(policy, target, () => []);
  const addresses = Array.from({ length: 300 }, (_, index) => `10.${index % 3}.0.${index % 150}`);
  for (const address of [...addresses, ...addresses, 'not an address', '169.254.169.254'])
    expect(guard.check(address)).toEqual(checkAddress(policy, target, address));
});

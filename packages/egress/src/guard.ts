/** The guard of one target: finds its addresses, and checks each one by the policy. */
import type { Guard } from '@erp-proxy/wire/client';
import type { LookUpName } from './names.ts';
import { checkAddress, type EgressPolicy, type EgressTarget } from './policy.ts';

/** A target has few addresses at a time. */
const ALLOWED_ADDRESSES_MAX = 64;

/** It remembers the allowed addresses: whether one is allowed depends on nothing that changes. */
export function createGuard(policy: EgressPolicy, target: EgressTarget, lookUp: LookUpName): Guard {
  const { host, isLiteral } = target;
  const allowed = new Set<string>();
  return {
    findAddresses: () => (isLiteral ? [host] : lookUp(host)),
    check(address) {
      if (allowed.has(address)) return null;
      const denial = checkAddress(policy, target, address);
      if (denial !== null) return denial;
      if (allowed.size >= ALLOWED_ADDRESSES_MAX) allowed.clear();
      allowed.add(address);
      return null;
    },
  };
}

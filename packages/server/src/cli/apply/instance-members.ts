/**
 * The members of an instance in a configuration file, without its name, its key, and members that only the proxy sets.
 */
import type { InstanceInput, InstanceView } from '@erp-proxy/contract';
import { pickShownMembers } from '@erp-proxy/contract/admin';

type Members = Omit<Required<InstanceInput>, 'name' | 'api_key' | 'key_expires_at'>;

export function describeInstance(view: InstanceView): Members {
  return { ...pickShownMembers(view), rotate_key: view.key.rotate };
}

/** The members of an instance in a configuration file, without its name, its key, and what only the proxy knows. */
import type { InstanceInput, InstanceView } from '@erp-proxy/contract';
import { INSTANCE_MEMBERS } from '@erp-proxy/contract/admin';

type Members = Omit<Required<InstanceInput>, 'name' | 'api_key' | 'key_expires_at'>;

export function describeInstance(view: InstanceView): Members {
  const { rotate_key: _, ...shown } = INSTANCE_MEMBERS;
  const given = Object.keys(shown).map((name) => [name, view[name as keyof typeof shown]]);
  return { ...Object.fromEntries(given), rotate_key: view.key.rotate };
}

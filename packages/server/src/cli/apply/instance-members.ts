/** The members of an instance in a configuration file, without its name, its key, and what only the proxy knows. */
import type { InstanceInput, InstanceView } from '@erp-proxy/contract';

type Members = Omit<Required<InstanceInput>, 'name' | 'api_key' | 'key_expires_at'>;

export function describeInstance(view: InstanceView): Members {
  const { name: _, key, created_at: __, updated_at: ___, version: ____, ...members } = view;
  return { ...members, rotate_key: key.rotate };
}

/** The members of an instance in a configuration file, without its name, its key, and what only the proxy knows. */
import type { InstanceInput, InstanceView } from '@erp-proxy/contract';

type Members = Omit<Required<InstanceInput>, 'name' | 'api_key' | 'key_expires_at'>;

export function describeInstance(view: InstanceView): Members {
  return {
    url: view.url,
    db: view.db,
    user_id: view.user_id,
    protocol: view.protocol,
    timeout_ms: view.timeout_ms,
    concurrency: view.concurrency,
    certificates: view.certificates,
    allow_private: view.allow_private,
    rotate_key: view.key.rotate,
  };
}

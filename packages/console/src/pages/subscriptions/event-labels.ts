import type { SubscriptionEvent } from '@erp-proxy/contract';

export const EVENT_LABELS: Record<SubscriptionEvent, string> = {
  'key.ends': 'a client key ends soon, or has ended',
  'job.ended': 'a job has ended whose caller has named this subscription',
};

/** Sends changes of records to webhooks. */
export type { ChangeReader } from './change-reader.ts';
export { printBody, type RecordBody, readBody, SubscriptionRowError } from './row.ts';
export { createSender, type SendDelivery } from './sender.ts';
export {
  createSubscriptions,
  type DescribeReseal,
  type SubscriptionRecord,
  type Subscriptions,
} from './subscriptions.ts';
export {
  createSubscriptionWorker,
  type SubscriptionWorker,
  WORKER_TIMES,
  type WorkerOptions,
  type WorkerTimes,
} from './worker.ts';

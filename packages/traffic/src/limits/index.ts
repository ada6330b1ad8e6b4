/** Limits of keys, of data requests and of retries. */
export { BUSY, divideWhole, listQuotas, UNLIMITED } from './admitted.ts';
export { DataRequests, isBoundedRoute } from './data-requests.ts';
export { type Admitted, KeyLimits, type LimitedKey, type Limits } from './key-limits.ts';
export { ParallelCalls } from './parallel-calls.ts';
export { PeriodCounts } from './periods.ts';
export { RetryBudget } from './retry-budget.ts';

/** Limits of keys, of data requests and of retries. */
export { divideWhole } from './admitted.ts';
export { DataRequests, isBoundedRoute } from './data-requests.ts';
export { type Admitted, KeyLimits, type LimitedKey, type Limits, type RateState } from './key-limits.ts';
export { MonthCounts } from './month.ts';
export { RetryBudget } from './retry-budget.ts';

/** Claims and sealed answers of idempotency keys. */
export { createAnswerSeal } from './answer-seal.ts';
export { isIdempotencyKey } from './call-names.ts';
export { createIdempotency, createRelay, type Idempotency } from './idempotency.ts';
export { type AttemptOutcome, IdempotentCall, type StoredResult } from './idempotent-call.ts';
export { PendingReleases } from './pending-releases.ts';
export { startPruning } from './pruning.ts';

/** The types that all steps share. */
export type { NeededConfirmation } from './call-context.ts';
export type { AnswerFacts, CallRunner, RunOptions } from './call-runner.ts';
export { denyClient } from './caller-denials.ts';
export type { Deferrals, DeferredCall, DeferredFacts, WriteMark } from './deferral.ts';
export { Denial, INTERNAL } from './denial.ts';
export { type Dialect, OWN_DIALECT } from './dialect.ts';
export { BackgroundExchange, type Exchange } from './exchange.ts';
export type { FoundTypes } from './field-finder.ts';
export type { FollowUp, ServerAccess, ServerFailure } from './follow-up.ts';
export { NULL_ID } from './parsed-body.ts';
export { type DeferredReply, type FaultReply, type Reply, replyFile } from './reply.ts';
export type { MadeCalls } from './request.ts';
export { readTimeoutMs } from './request-time.ts';
export { explainFailure } from './upstream-denials.ts';

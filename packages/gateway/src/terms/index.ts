/** The types that all steps share. */
export type { NeededConfirmation } from './call-context.ts';
export type { AnswerFacts, CallRunner, RunOptions } from './call-runner.ts';
export { Denial } from './denial.ts';
export { type Dialect, OWN_DIALECT } from './dialect.ts';
export { BackgroundExchange, type Exchange } from './exchange.ts';
export type { FoundTypes } from './field-finder.ts';
export { NULL_ID } from './parsed-body.ts';
export type { FaultReply } from './reply.ts';
export type { MadeCalls } from './request.ts';
export { readTimeoutMs } from './request-time.ts';
export { explainFailure } from './upstream-denials.ts';

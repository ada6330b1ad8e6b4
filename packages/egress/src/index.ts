/** The only way out of the process: requests to addresses that the setting `egress.allow` allows. */
export { createEgressDispatcher, type EgressDispatcher, fetchWhole, type WholeAnswer } from './dispatcher.ts';
export type { EgressAnswer, EgressFailure, EgressRequest, EgressTrust } from './messages.ts';

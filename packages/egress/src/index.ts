/** The only way out of the process: requests to addresses that the setting `egress.allow` allows. */
export { createEgressDispatcher, type EgressDispatcher } from './dispatcher.ts';
export { fetchWhole, type WholeAnswer } from './fetch-whole.ts';
export type { EgressAnswer, EgressFailure, EgressRequest, EgressTrust } from './messages.ts';

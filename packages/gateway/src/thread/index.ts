/** Passes over all bytes of a call, in a thread for large calls. */
export { parseDocument } from './large-calls.ts';

/** One call on many instances. */
export { createFleet, type Fleet } from './fleet.ts';

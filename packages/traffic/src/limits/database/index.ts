/** Permits for calls to a database of Odoo. */
export { chooseConcurrencyBounds } from './adaptive-concurrency.ts';
export { DatabaseLimiters } from './database-limiters.ts';
export type { Permit, PermitRefusal, PermitRequest, PermitResult } from './permit.ts';

/** What went wrong in Odoo: faults and statuses as errors of our table, with what the caller did wrong. */
export { createFaultCleaner } from './fault-cleaner.ts';
export { type ClassifyOptions, classifyFault, type Fault } from './faults.ts';
export { classifyOwnJson2Fault } from './json2-own-fault.ts';
export { isLoginCooldown } from './login-cooldown.ts';
export { parseFault } from './read-fault.ts';
export { type RefinedCall, refineFault } from './refine-fault.ts';
export { findUnknownName, type UnknownName } from './unknown-name.ts';

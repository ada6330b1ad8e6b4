/** Faults of Odoo, as errors of the proxy's table, with the mistake of the caller if there is one. */
export { createFaultCleaner } from './fault-cleaner.ts';
export { classifyFault, type Fault } from './faults.ts';
export { classifyOwnJson2Fault } from './json2-own-fault.ts';
export { isLoginCooldown } from './login-cooldown.ts';
export { parseFault } from './read-fault.ts';
export { type RefinedCall, refineFault } from './refine-fault.ts';
export { findUnknownName, type UnknownName } from './unknown-name.ts';

/** What is known about servers of Odoo, over calls. */
export { createCredentialMemory } from './check-credentials.ts';
export { KnownNames } from './known-names.ts';
export { KnownOrders } from './known-orders.ts';
export { LoginTrials } from './login-trials.ts';
export { ModelFields } from './model-fields.ts';
export { Servers } from './servers.ts';
export { createReads } from './share-read.ts';
export { nameDatabaseAcrossTrusts, nameDatabaseByTrust } from './target-names.ts';
export { createProtocolChoice } from './translate.ts';

/**
 * Schemas (zod) of `/admin/v1` and of the output of commands with `--json`. Types, input checks and the OpenAPI
 * document are derived from them. Times are ISO 8601 in UTC. Further rules, such as those of a policy, a certificate or
 * a time, are checked by the admin service.
 */
export * from './actor.ts';
export * from './applications.ts';
export * from './approvals.ts';
export * from './audit.ts';
export * from './connections.ts';
export * from './instances.ts';
export * from './jobs.ts';
export * from './keys.ts';
export * from './persons.ts';
export * from './policy.ts';
export * from './schema-names.ts';
export * from './statistics.ts';
export * from './status.ts';
export * from './subscriptions.ts';
export * from './tokens.ts';

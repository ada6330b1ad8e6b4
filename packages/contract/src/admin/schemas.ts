/**
 * The shapes of `/admin/v1`, and of what commands print with `--json`, as zod schemas: the types, the check of input
 * and the OpenAPI document follow from them. Times are ISO 8601 in UTC. The admin service checks the other rules: those
 * of a policy, a certificate or a time.
 */
export * from './approvals.ts';
export * from './audit.ts';
export * from './instances.ts';
export * from './keys.ts';
export * from './policy.ts';
export * from './schema-names.ts';
export * from './statistics.ts';
export * from './status.ts';
export * from './subscriptions.ts';

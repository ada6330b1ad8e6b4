/**
 * The public contract of erp-proxy: wire types, the table of errors, patterns of policies, tags of versions. The types
 * of the admin API are derived from the schemas in `@erp-proxy/contract/admin`, the only entry point that imports zod.
 */

export * from './admin/options.ts';
export * from './admin/roles.ts';
export type * from './admin/schemas.ts';
export * from './admin/values.ts';
export * from './compatible.ts';
export * from './cut-text.ts';
export * from './errors.ts';
export * from './fleet-rows.ts';
export * from './glob.ts';
export * from './jobs.ts';
export * from './pick.ts';
export * from './policy.ts';
export * from './reach.ts';
export * from './try-parse.ts';
export * from './version-tag.ts';
export * from './wire.ts';

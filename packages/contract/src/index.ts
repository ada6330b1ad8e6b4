/**
 * The public contract of erp-proxy: wire types, the table of errors, patterns of policies, tags of versions. Imports
 * nothing.
 */
export * from './admin.ts';
export * from './compatible.ts';
export * from './cut-text.ts';
export * from './errors.ts';
export * from './glob.ts';
export * from './policy.ts';
export * from './version-tag.ts';
export * from './wire.ts';

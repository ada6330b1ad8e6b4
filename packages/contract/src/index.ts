/** The public contract of erp-proxy: the wire types and the table of errors. Imports nothing. */
export * from './admin.ts';
export * from './compatible.ts';
export * from './errors.ts';
export * from './policy.ts';
export * from './wire.ts';

/** The public contract of erp-proxy: what goes over the wire, and every error. Imports nothing. */
export * from './admin.ts';
export * from './compatible.ts';
export * from './errors.ts';
export * from './policy.ts';
export * from './wire.ts';

/** The admin API: its schemas, and its operations. */
export * from './operations.ts';
export * from './schemas.ts';

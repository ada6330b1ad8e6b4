/** The records that changed since a time or a cursor. */
export { type Changes, createChanges } from './changes.ts';

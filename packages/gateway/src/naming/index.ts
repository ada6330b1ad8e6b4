/** Names the records that a call concerns. */
export { isNote } from './concerned-records.ts';
export { nameRecords, type ReadableField, type RecordReader } from './name-records.ts';

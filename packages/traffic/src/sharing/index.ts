/** Shared reads and kept answers. */
export { type AnswerStore, MemoryAnswers, type ReadScope } from './answer-store.ts';
export type { SharedCall } from './flight.ts';
export {
  type CacheControl,
  nameRead,
  readCacheControl,
  type SharedAnswer,
  SharedReads,
} from './shared-reads.ts';
export { WriteLog } from './write-log.ts';

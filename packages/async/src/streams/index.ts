/** Streams of bytes that are read on demand, and writers of answers: pieces, ends, errors, and what joins them. */
export { AnswerCollector } from './answer-collector.ts';
export type { AnswerHeaders, AnswerWriter } from './answer-writer.ts';
export { type ByteStream, ByteStreamError } from './byte-stream.ts';
export { chain } from './chain.ts';
export { PieceCollector } from './piece-collector.ts';
export { readStream } from './read-stream.ts';
export { WatchedStream } from './watched-stream.ts';

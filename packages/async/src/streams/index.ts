/** Streams of bytes that are read on demand, and writers of answers: pieces, ends, errors, and what joins them. */
export { AnswerCollector, type AnswerHeaders, type AnswerWriter } from './answer-collector.ts';
export { type ByteStream, ByteStreamError, chain, readStream, WatchedStream } from './byte-stream.ts';
export { PieceCollector } from './piece-collector.ts';

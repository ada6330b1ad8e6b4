/**
 * Further requests to the server of a call, for an answer that takes several. The policy of the key decides about the
 * call alone: what follows it must be a part of what the route was allowed for.
 */
import type { Denial } from './denial.ts';
import type { FaultReply, Reply, ResultReply } from './reply.ts';

/** Finds the reply to a call from its result, which is JSON text. */
export type FollowUp = (result: Buffer, server: ServerAccess) => Promise<Reply>;

export interface ServerAccess {
  /**
   * Calls a method that may run several times: it is sent again if the connection breaks. The result is JSON text of at
   * most `bytesMax` bytes; a larger one is a failure.
   */
  ask(question: ServerQuestion): Promise<{ result: Buffer } | { failed: ServerFailure }>;
  /** Gets a PDF from a page of the server, in a language if one is given. */
  getPdf(path: string, lang: string | null): Promise<FoundPdf | PageFailure>;
}

export interface ServerQuestion {
  model: string;
  method: string;
  params: readonly unknown[];
  keyword: Readonly<Record<string, unknown>>;
  /** Default: 2 MiB. */
  bytesMax?: number;
}

export type ServerFailure = FaultReply | Denial;

/** A PDF that arrives while it is sent. `disposition`: the header that has its name; null if there is none. */
export interface FoundPdf {
  reply: ResultReply;
  disposition: string | null;
}

/** `isAnswered`: the server has answered, and not with a PDF. */
export interface PageFailure {
  failed: Denial;
  isAnswered: boolean;
}

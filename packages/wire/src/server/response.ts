/**
 * The response to one request: sends head and body in HTTP's format. Implemented on Node's HTTP (node-response.ts) and
 * directly on a connection (plain-call.ts). Knows nothing of what is answered.
 */
import type { AnswerHeaders } from '@erp-proxy/async/streams';

export interface HttpResponse {
  /** Sends the whole response at once; adds `content-length`. */
  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void;
  /** Begins a body in pieces. `lengthBytes` is null if the length is unknown. */
  begin(status: number, headers: AnswerHeaders, lengthBytes: number | null): void;
  /**
   * Returns a promise if there is no room for a further piece. It resolves when there is room, or when the connection
   * is closed.
   */
  write(piece: Uint8Array): Promise<void> | undefined;
  /** Ends the body, which is complete. */
  end(): void;
  /** Resets the connection: a client must not take a truncated body for a complete one. */
  breakOff(): void;
  /** Calls `listener` once when the client leaves before its answer is complete; immediately if it has left already. */
  onClientLeft(listener: () => void): void;
  /** Resolves when the last byte of the answer was sent, or the connection is closed. */
  waitUntilAnswered(): Promise<void>;
}

/** A request to `/mcp` that was admitted, and its answer. Knows neither the pipeline nor the SDK. */
import type { OfferedTools } from './offered-tools.ts';
import type { Session } from './session.ts';

/** What a wait for a person needs of the request. */
export interface Waiting {
  readonly signal: AbortSignal;
  isStopping(): boolean;
  /** Stops the time limit of the request. */
  pauseTime(): void;
  /** Starts the time limit anew. */
  renewTime(): void;
}

export interface McpRequest {
  session: Session;
  /** The tools of the key. */
  offered: OfferedTools;
  keyId: string;
  requestId: string;
  /** For waits within the request. */
  waiting: Waiting;
  header(name: string): string | undefined;
}

export interface McpAnswer {
  status: number;
  contentType: string;
  body: Uint8Array;
  /** Sends the answer in parts, in place of the body. The headers and `contentType` are sent before. */
  stream?: (write: (text: string) => void) => Promise<void>;
  /** Further headers. */
  headers?: Record<string, string>;
}

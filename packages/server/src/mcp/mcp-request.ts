/** A request to `/mcp` that was admitted, and its answer. Knows neither the pipeline nor the SDK. */
import type { OfferedTools } from './offered-tools.ts';
import type { Session } from './session.ts';

export interface McpRequest {
  session: Session;
  /** The tools of the key. */
  offered: OfferedTools;
  keyId: string;
  requestId: string;
  header(name: string): string | undefined;
}

export interface McpAnswer {
  status: number;
  contentType: string;
  body: Uint8Array;
}

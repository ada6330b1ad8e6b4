/**
 * Loads the SDK and prepares it, in parts: each keeps other callers waiting, who get their turn between two of them.
 * Happens with the first request to `/mcp`, so that a process without agents does not pay for it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HandlerOptions, McpHandler } from './handler.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';

export async function loadHandler(options: HandlerOptions): Promise<McpHandler> {
  // Without this import, the validator of the SDK would be loaded with the rest.
  await import('@modelcontextprotocol/server/validators/ajv');
  await nextTurn();
  await linkSdk();
  await nextTurn();
  await import('@modelcontextprotocol/server');
  await nextTurn();
  const { createHandler } = await import('./handler.ts');
  const { describeTool } = await import('./describe-tool.ts');
  for (const hasInstances of [false, true]) {
    for (const tool of ALL_TOOLS) {
      await nextTurn();
      describeTool(tool, hasInstances);
    }
  }
  const { prepareSdk } = await import('./prepare-sdk.ts');
  await prepareSdk();
  return createHandler(options);
}

/** Reads and links the modules of the SDK without evaluating them. Other errors return when it is imported. */
async function linkSdk(): Promise<void> {
  // In the bundle, an import of its own gives this module its own file, which is evaluated before that of the SDK.
  await import('./stop-evaluation.ts').catch(() => undefined);
  await import('./link-sdk.ts').catch(() => undefined);
}

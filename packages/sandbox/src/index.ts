/** A simulated Odoo over HTTP for demos and tests. Needs nothing but Node. */

export type { JsonObject as SandboxValues } from './json/value.ts';
export type { CallListener, SandboxCall, SandboxFile } from './rpc/instance.ts';
export type { SandboxTransaction } from './rpc/sandbox-transaction.ts';
export { type Sandbox, type SandboxOptions, type SandboxUser, startSandbox } from './start-sandbox.ts';
export type { Version } from './versions/personality.ts';

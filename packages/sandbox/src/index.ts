/** An Odoo look-alike over HTTP for demos and tests. Runs on node alone. */
export { type Sandbox, type SandboxOptions, type SandboxUser, startSandbox } from './start-sandbox.ts';
export type { Version } from './versions/personality.ts';

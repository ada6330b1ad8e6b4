/** An Odoo look-alike over HTTP for demos and tests. Runs on node alone. */
export { type Sandbox, type SandboxOptions, type SandboxUser, startSandbox } from './startSandbox.ts';
export type { Version } from './versions/personality.ts';

/** A simulated Odoo over HTTP for demos and tests. Needs nothing but Node. */
export { type Sandbox, type SandboxOptions, type SandboxUser, startSandbox } from './start-sandbox.ts';
export type { Version } from './versions/personality.ts';

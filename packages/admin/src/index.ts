/** The administrative operations. */
export {
  type Actor,
  type Admin,
  type AdminDeps,
  Examinations,
  type Identity,
  type OnCheck,
  type SandboxServer,
} from './admin.ts';
export {
  type AuditedActor,
  createActionDescriber,
  createConnectionResealDescriber,
  createKeyRotationDescriber,
  createResealDescriber,
  createSecretResealDescriber,
} from './audited-actions.ts';
export { createAdmin } from './create-admin.ts';
export { createFourEyes } from './four-eyes.ts';
export { refuseWhole } from './limit-deps.ts';
export {
  Attempts,
  createOwnConnections,
  type OwnConnectionDeps,
  type OwnConnectionOperations,
} from './own-connections.ts';
export { createTokenUses } from './token-uses.ts';
export { showUpstreams } from './views.ts';

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
export { describeAgreement, describeWithdrawal } from './application-admin.ts';
export { Attempts } from './attempts.ts';
export {
  type AuditedActor,
  createActionDescriber,
  createConnectionResealDescriber,
  createKeyRotationDescriber,
  createPersonKeyDescriber,
  createResealDescriber,
  createSecretResealDescriber,
  type DescribeAction,
  SECRET,
} from './audited-actions.ts';
export { createAdmin } from './create-admin.ts';
export { createFourEyes } from './four-eyes.ts';
export { refuseWhole } from './limit-deps.ts';
export { createOdooSignIn } from './odoo-sign-in.ts';
export {
  createOwnApplications,
  type OwnApplicationOperations,
} from './own-applications.ts';
export {
  createOwnConnections,
  type OwnConnectionDeps,
  type OwnConnectionOperations,
} from './own-connections.ts';
export { createTokenUses } from './token-uses.ts';
export { showUpstreams } from './views.ts';

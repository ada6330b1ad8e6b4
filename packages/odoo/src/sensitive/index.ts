/** Methods that a policy must name, because they change rights, run code or send something. */
export { listCredentialFields } from './credential-fields.ts';
export { listDelegates } from './delegating-models.ts';
export { findSensitivity } from './sensitive-methods.ts';

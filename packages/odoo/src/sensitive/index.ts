/** Methods that do more than their names tell, so that a policy must name them. */
export { listDelegates } from './delegating-models.ts';
export { findSensitivity } from './sensitive-methods.ts';

/** Errors of administrative operations. */
export { AdminError, createAdminError, createInputError, describeProblem } from '../admin-error.ts';
export { toAdminError } from '../to-admin-error.ts';

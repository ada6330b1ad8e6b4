/** What the parts of the proxy refuse, as problems of the admin service. */
import { AuditQueryFault } from '../audit/query.ts';
import { InstanceFault } from '../instances/instances.ts';
import { KeyCareError } from '../instances/key-care.ts';
import { VaultError } from '../instances/vault.ts';
import { KeyFault } from '../keys/keys.ts';
import { StoredPolicyError } from '../keys/stored-policy.ts';
import { AdminError, describeProblem, refuse, refuseFaults } from './admin-error.ts';

/** The error itself where it is none of a caller's making. */
export function explainRefusal(error: unknown): unknown {
  if (error instanceof InstanceFault) return refuseFaults(error.faults);
  if (error instanceof KeyFault || error instanceof AuditQueryFault) return refuse(400, error.message);
  if (error instanceof KeyCareError || error instanceof StoredPolicyError) return refuse(409, error.message);
  if (error instanceof VaultError) return refuse(503, error.message);
  // By name: which store it is, this folder must not know.
  if (error instanceof Error && error.name === 'StoreError') {
    const detail = 'The store of the proxy does not answer: try again in a moment.';
    return new AdminError(describeProblem(503, detail), { cause: error });
  }
  return error;
}

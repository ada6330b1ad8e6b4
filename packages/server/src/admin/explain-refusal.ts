/** What the parts of the proxy refuse, as problems of the admin service. */
import type { Problem } from '@erp-proxy/contract';
import { AuditQueryFault } from '../audit/query.ts';
import { InstanceFault } from '../instances/instances.ts';
import { VaultError } from '../instances/vault.ts';
import { KeyRotationError } from '../key-rotation/key-rotation.ts';
import { KeyFault } from '../keys/keys.ts';
import { StoredPolicyError } from '../keys/stored-policy.ts';
import { AdminError, describeProblem, refuse, refuseFaults } from './admin-error.ts';

/** The error itself where it is none of a caller's making. */
export function explainRefusal(error: unknown): unknown {
  if (error instanceof InstanceFault) return refuseFaults(error.faults);
  if (error instanceof KeyFault || error instanceof AuditQueryFault) return refuse(400, error.message);
  if (error instanceof KeyRotationError || error instanceof StoredPolicyError)
    return refuse(409, error.message);
  if (error instanceof VaultError) return refuse(503, error.message);
  // By name: which store it is, this folder must not know.
  if (error instanceof Error && error.name === 'UnknownOutcomeError') {
    return new AdminError(OUTCOME_UNKNOWN, { cause: error });
  }
  if (error instanceof Error && error.name === 'StoreError') {
    return new AdminError(describeProblem(503, explainStore(error)), { cause: error });
  }
  return error;
}

/** Of no status that programs try again by themselves: a key that is made twice is one too many. */
const OUTCOME_UNKNOWN: Problem = {
  type: 'urn:erp-proxy:problem:outcome-unknown',
  title: 'Outcome Unknown',
  status: 500,
  detail:
    'The store did not say whether it made the change: it may have been made. Look at the list of keys or instances, or at the audit, before you try again.',
};

function explainStore(error: Error): string {
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : null;
  if (reason === null)
    return 'The store of the proxy does not answer or takes no changes. Try again when it does.';
  // A reason ends with advice of its own, as a rule.
  const advice = reason.endsWith('.') ? '' : '. Try again when it does.';
  return `The store of the proxy does not answer or takes no changes: ${reason}${advice}`;
}

/** Converts errors of other parts of the proxy into errors of the admin service. */
import type { Problem } from '@erp-proxy/contract';
import { AuditQueryError } from '@erp-proxy/control/audit';
import { InputError, VaultError } from '@erp-proxy/control/instances';
import { KeyRotationError } from '@erp-proxy/control/key-rotation';
import { KeyInputError, StoredPolicyError } from '@erp-proxy/control/keys';
import { SubscriptionRowError } from '@erp-proxy/data/subscriptions';
import { AdminError, createAdminError, createInputError, describeProblem } from './admin-error.ts';

/** Returns the error itself if it is not one for the caller. */
export function toAdminError(error: unknown): unknown {
  if (error instanceof InputError) return createInputError(error.invalidMembers);
  if (error instanceof KeyInputError || error instanceof AuditQueryError)
    return createAdminError(400, error.message);
  if (error instanceof KeyRotationError || error instanceof StoredPolicyError)
    return createAdminError(409, error.message);
  if (error instanceof VaultError || error instanceof SubscriptionRowError)
    return createAdminError(503, error.message);
  // Compared by name, because this folder must not import the stores.
  if (error instanceof Error && error.name === 'UnknownOutcomeError') {
    return new AdminError(OUTCOME_UNKNOWN, { cause: error });
  }
  if (error instanceof Error && error.name === 'StoreError') {
    return new AdminError(describeProblem(503, explainStore(error)), { cause: error });
  }
  return error;
}

/** The status is 500 because programs do not retry it by themselves: a retry could create a second key. */
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
  // Most reasons end with advice of their own.
  const advice = reason.endsWith('.') ? '' : '. Try again when it does.';
  return `The store of the proxy does not answer or takes no changes: ${reason}${advice}`;
}

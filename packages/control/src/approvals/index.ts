/** Calls that an administrator must approve. */
export { isApprovalId } from './approval-id.ts';
export { type ApprovalRecord, type Approvals, createApprovals } from './approvals.ts';
export { CallApproval, type Standing } from './call-approval.ts';
export type { ApprovalFacts } from './facts.ts';

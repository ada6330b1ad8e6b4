/** Ids of approvals. An id alone permits no call: the approval is also bound to its client and its call. */
import { randomBytes } from 'node:crypto';

const BYTES = 12;
const ID = /^[0-9a-f]{24}$/;

export function createApprovalId(): string {
  return randomBytes(BYTES).toString('hex');
}

export function isApprovalId(text: string): boolean {
  return ID.test(text);
}

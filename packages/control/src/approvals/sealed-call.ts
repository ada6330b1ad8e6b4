/** Seals the values of a call for the store. A sealed text opens only for its own approval. */
import type { ApprovalCall, UnreadableCall } from '@erp-proxy/contract';
import { type Vault, VaultError } from '../instances/vault.ts';

export function sealCall(call: ApprovalCall, id: string, vault: Vault): string {
  return vault.seal(JSON.stringify(call), nameSealed(id));
}

export function openCall(sealed: string, id: string, vault: Vault): ApprovalCall | UnreadableCall {
  try {
    return JSON.parse(vault.open(sealed, nameSealed(id)));
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return { unreadable: UNREADABLE };
  }
}

function nameSealed(id: string): string {
  return `approval ${id}`;
}

const UNREADABLE =
  'The values of this call cannot be opened: the master key that sealed them is not set here, or the store was changed.';

/**
 * Approvals: a call that an administrator must approve is stored until it is approved, and then runs once. Knows
 * neither HTTP nor how a call is sent. The caller of this folder says whether a call was sent.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import type { ApprovalCall, UnreadableCall } from '@erp-proxy/contract';
import type {
  ApprovalDecision,
  ApprovalListQuery,
  ApprovalRow,
  ApprovalStore,
  AuditBatch,
  Change,
} from '@erp-proxy/stores/ports';
import { PendingReleases, startPruning } from '@erp-proxy/traffic/idempotency';
import type { Vault } from '../instances/vault.ts';
import {
  type ApprovalCounts,
  type ApprovalSettings,
  CallApproval,
  type CallToApprove,
} from './call-approval.ts';
import { type ApprovalFacts, readFacts } from './facts.ts';
import { openCall } from './sealed-call.ts';

export interface ApprovalsOptions {
  store: ApprovalStore;
  /** 32 bytes, the same on every replica, to hash calls for the store. */
  secret: Uint8Array;
  /** Seals the values of calls. */
  vault: Vault;
  settings: ApprovalSettings;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with errors of the store that no caller sees. */
  onError: (error: unknown) => void;
  /** True if this process removes old rows. */
  isServing: boolean;
}

/** An approval with the facts of its call. */
export interface ApprovalRecord extends Omit<ApprovalRow, 'facts' | 'state'> {
  readonly state: ApprovalRow['state'] | 'expired';
  readonly facts: ApprovalFacts;
}

export interface Approvals {
  /** Begins one attempt at a call that needs an approval. */
  begin(call: CallToApprove): CallApproval;
  /** Lists approvals, the newest first. */
  list(
    query: Pick<ApprovalListQuery, 'after' | 'limit'> & { state?: ApprovalRecord['state'] | undefined },
  ): Promise<ApprovalRecord[]>;
  find(id: string): Promise<ApprovalRecord | null>;
  /** The values of the call; null once they are deleted. */
  openCall(id: string): Promise<ApprovalCall | UnreadableCall | null>;
  /** `conflict`: the approval is not pending. */
  decide(
    id: string,
    decision: Pick<ApprovalDecision, 'state' | 'by' | 'reason'>,
    auditBatch: AuditBatch,
  ): Promise<Change>;
  readonly counts: Readonly<ApprovalCounts>;
  /** Ends the background tasks. The store stays open. */
  close(): Promise<void>;
}

/** Time for which an expired row is kept, so that its caller and administrators see its final state. */
const KEPT_MS = 24 * 3_600_000;

export function createApprovals({
  store,
  secret,
  vault,
  settings,
  clock,
  onError,
  isServing,
}: ApprovalsOptions): Approvals {
  const hashKey = createSecretKey(secret);
  const releases = new PendingReleases(store);
  const pruning = isServing
    ? startPruning(
        {
          prune: (limit) => store.prune(clock(), clock() - KEPT_MS, limit),
        },
        onError,
      )
    : null;
  const counts: ApprovalCounts = { asked: 0, approved: 0, refused: 0, used: 0, returned: 0 };

  function show(row: ApprovalRow): ApprovalRecord {
    const isOver = (row.state === 'pending' || row.state === 'approved') && row.expiresAt <= clock();
    return { ...row, state: isOver ? 'expired' : row.state, facts: readFacts(row.facts) };
  }

  function nameCall({ operation, facts, params, keyword }: CallToApprove): string {
    // JSON separates the parts, and the length says where `params` ends.
    const parts = JSON.stringify([operation, facts.model, facts.action, params.length]);
    return createHmac('sha256', hashKey).update(parts).update(params).update(keyword).digest('hex');
  }

  return {
    begin: (call) =>
      new CallApproval(call, {
        store,
        vault,
        settings,
        clock,
        nameCall,
        releases,
        counts,
        onError,
      }),
    async list({ after, limit, state }) {
      const filter = state && { is: state, now: clock() };
      return (await store.list({ after, limit, state: filter })).map(show);
    },
    async find(id) {
      const row = await store.find(id);
      return row && show(row);
    },
    async openCall(id) {
      const row = await store.find(id);
      return row?.call == null ? null : openCall(row.call, id, vault);
    },
    async decide(id, decision, auditBatch) {
      const now = clock();
      const expiresAt = decision.state === 'approved' ? now + settings.useMs : null;
      const change = await store.decide(id, { ...decision, now, expiresAt }, auditBatch);
      if (change === 'done') counts[decision.state]++;
      return change;
    },
    counts,
    async close() {
      await Promise.all([releases.close(), pruning?.close()]);
    },
  };
}

/** The operations of an administrator on calls that need an approval. */
import { type ActorView, type ApprovalView, nameActor, tryParse } from '@erp-proxy/contract';
import type { ApprovalRecord } from '@erp-proxy/control/approvals';
import { readActor } from '@erp-proxy/control/audit';
import { z } from 'zod';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { type AdminError, createAdminError, createInputError } from './admin-error.ts';
import type { DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showTime, showTimeOrNull } from './time.ts';

type ApprovalAdmin = Pick<Admin, 'listApprovals' | 'getApproval' | 'approveCall' | 'refuseCall'>;
type Decision = 'approved' | 'refused';

/** Position of an approval in the list, which the store sorts by age. */
const PLACE = z.tuple([z.int(), z.string().regex(/^\w+$/)]);
/** One line of text, because the caller gets the reason as part of an error. */
const REASON = /^[^\p{Cc}]{1,500}$/u;

export function createApprovalAdmin(
  deps: AdminDeps,
  describeAction: DescribeAction,
  actor: Actor,
): ApprovalAdmin {
  const { approvals } = deps;

  async function find(id: string): Promise<ApprovalRecord> {
    const approval = await approvals.find(id);
    if (approval === null) throw createAdminError(404, `There is no approval ${JSON.stringify(id)}.`);
    return approval;
  }

  async function decide(id: string, state: Decision, reason: string | null): Promise<ApprovalView> {
    const approval = await find(id);
    if (approval.state === state) return show(approval);
    if (approval.state !== 'pending') throw explainDecided(approval);
    const refusal = state === 'approved' ? await deps.explainOwnCall?.(approval.facts, actor) : null;
    if (refusal != null) throw createAdminError(403, refusal);
    const changes = {
      state: { from: 'pending', to: state },
      ...(reason === null ? {} : { reason: { from: null, to: reason } }),
    };
    const { instance } = approval.facts;
    const auditBatch = describeAction(
      ACTIONS[state],
      `approval ${id}`,
      changes,
      instance === null ? null : [instance],
    );
    const outcome = await approvals.decide(
      id,
      { state, by: JSON.stringify(nameActor(actor)), reason },
      auditBatch,
    );
    const now = await find(id);
    // If another administrator has just decided in the same way, this is not an error.
    if (outcome !== 'done' && now.state !== state) throw explainDecided(now);
    return show(now);
  }

  return {
    listApprovals({ state, ...page }) {
      return readPage(page, {
        place: PLACE,
        placeOf: ({ createdAt, id }): z.infer<typeof PLACE> => [createdAt, id],
        list: (place, limit) =>
          approvals.list({ state, limit, after: place && { createdAt: place[0], id: place[1] } }),
        show,
      });
    },

    async getApproval(id) {
      const approval = await find(id);
      return { ...show(approval), call: await approvals.openCall(id) };
    },

    async approveCall(id) {
      const call = await approvals.openCall(id);
      if (call !== null && 'unreadable' in call) {
        throw createAdminError(409, `${call.unreadable} Refuse the call, and have it asked for again.`);
      }
      return decide(id, 'approved', null);
    },

    async refuseCall(id, { reason }) {
      if (!REASON.test(reason)) {
        throw createInputError([
          { path: 'reason', message: 'must be one line of 1 to 500 characters, which the caller gets' },
        ]);
      }
      return decide(id, 'refused', reason);
    },
  };
}

const ACTIONS: Record<Decision, string> = { approved: 'approval.approve', refused: 'approval.refuse' };

function show(approval: ApprovalRecord): ApprovalView {
  const { facts } = approval;
  return {
    id: approval.id,
    state: approval.state,
    key_id: facts.keyId,
    asked_by: facts.actor === undefined ? null : readActor(tryParse(facts.actor)),
    address: facts.address,
    instance: facts.instance,
    upstream: facts.upstream,
    db: facts.db,
    user_id: facts.userId,
    model: facts.model,
    action: facts.action,
    rule: facts.rule,
    created_at: showTime(approval.createdAt),
    expires_at: showTime(approval.expiresAt),
    decided_at: showTimeOrNull(approval.decidedAt),
    decided_by: readDecider(approval),
    reason: approval.reason,
    used_at: showTimeOrNull(approval.usedAt),
  };
}

/** Earlier releases stored the id of the actor. */
function readDecider({ decidedBy }: ApprovalRecord): ActorView | null {
  return decidedBy === null ? null : readActor(tryParse(decidedBy) ?? decidedBy);
}

function explainDecided(approval: ApprovalRecord): AdminError {
  const { id, state } = approval;
  const decider = readDecider(approval);
  const by = decider === null ? '' : ` by ${decider.name}`;
  const what = state === 'expired' ? 'Its time is over' : `It is ${state}${by}`;
  return createAdminError(409, `${what}, so that ${id} cannot be decided: the caller can ask again.`);
}

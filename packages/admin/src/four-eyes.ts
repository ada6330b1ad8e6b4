/**
 * The rule of `approvals.fourEyes`: nobody approves a call of a key that they made, a call that they made in the
 * console, or a call of their own identity. A personal token counts as the person who created it. What is not known is
 * refused.
 */
import { type ActorView, tryParse } from '@erp-proxy/contract';
import type { ApprovalFacts } from '@erp-proxy/control/approvals';
import { readActor, SESSION_ACTOR, TOKEN_ACTOR } from '@erp-proxy/control/audit';
import type { Keys } from '@erp-proxy/control/keys';
import type { OperatorTokens } from '@erp-proxy/control/keys/operator-tokens';
import { findPersonBehind } from './person-behind.ts';
import { readCreator } from './views.ts';

export interface FourEyesDeps {
  keys: Pick<Keys, 'find'>;
  operatorTokens: Pick<OperatorTokens, 'find'>;
}

/** Why the actor may not approve the call; null: they may. Rejects if the store fails. */
export type ExplainOwnCall = (facts: ApprovalFacts, actor: ActorView) => Promise<string | null>;

/** The ids of clients that are persons of an identity provider: `<issuer>/<subject>`. */
const PERSON = /\//;

export function createFourEyes({ keys, operatorTokens }: FourEyesDeps): ExplainOwnCall {
  /** Everybody who has `admin.token` is the same. */
  async function identify(actor: ActorView): Promise<string> {
    const { id, type } = await findPersonBehind(actor, operatorTokens);
    const isAdminToken = type === SESSION_ACTOR.type || (type === TOKEN_ACTOR.type && id === TOKEN_ACTOR.id);
    return isAdminToken ? TOKEN_ACTOR.id : id;
  }

  return async (facts, actor) => {
    const approver = await identify(actor);
    const explain = (what: string, advice = 'somebody else must approve it') =>
      `${what}, and approvals.fourEyes is true: ${advice}.`;
    if (facts.actor !== undefined) {
      const asker = readActor(tryParse(facts.actor));
      if (asker === null || (await identify(asker)) === approver)
        return explain('You made this call yourself');
    }
    if (facts.keyId === approver) return explain('The call is one of your own tokens');
    if (PERSON.test(facts.keyId)) return null;
    const key = await keys.find(facts.keyId);
    if (key?.person === approver) return explain('The key makes your own calls');
    const maker = key && readCreator(key);
    if (maker === null) {
      const advice = 'rotate the key, and have the call asked for again with the new one';
      return explain(`It is not known who made the key ${facts.keyId}`, advice);
    }
    return (await identify(maker)) === approver ? explain(`You made the key ${facts.keyId}`) : null;
  };
}

/** Finds the person behind an actor: the one who created the personal token that acts. */
import { type ActorView, nameActor, tryParse } from '@erp-proxy/contract';
import { readActor } from '@erp-proxy/control/audit';
import type { OperatorTokens } from '@erp-proxy/control/keys/operator-tokens';

/**
 * The person; the actor itself if it is no token of a person. A token that was created with a token has the person of
 * that one. Rejects if the store fails.
 */
export async function findPersonBehind(
  actor: ActorView,
  tokens: Pick<OperatorTokens, 'find'>,
): Promise<ActorView> {
  const token = actor.type === 'token' ? await tokens.find(actor.id) : null;
  const creator = token && readActor(tryParse(token.createdBy));
  return creator?.type === 'person' ? creator : nameActor(actor);
}

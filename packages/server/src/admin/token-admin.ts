/** The operations of an administrator on personal tokens of operators. */
import {
  type ActorView,
  type InvalidMember,
  nameActor,
  type TokenInput,
  type TokenView,
  tryParse,
} from '@erp-proxy/contract';
import { z } from 'zod';
import { readActor } from '../audit/actors.ts';
import { isKeyName, KEY_NAME_RULE } from '../keys/format.ts';
import type { OperatorToken } from '../stores/ports/operator-tokens.ts';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createAdminError, createInputError } from './admin-error.ts';
import { compareMembers, type DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { readTime, showTime, showTimeOrNull } from './time.ts';
import { checkState } from './views.ts';

type TokenAdmin = Pick<Admin, 'listTokens' | 'createToken' | 'revokeToken'>;

/** Position of a token in the list, which the store sorts by age. */
const PLACE = z.tuple([z.int(), z.string().regex(/^\w+$/)]);

export function createTokenAdmin(
  { operatorTokens, clock }: AdminDeps,
  describeAction: DescribeAction,
  actor: Actor,
): TokenAdmin {
  const show = (token: OperatorToken) => showToken(token, clock());

  return {
    listTokens: (page) =>
      readPage(page, {
        place: PLACE,
        placeOf: ({ createdAt, id }): z.infer<typeof PLACE> => [createdAt, id],
        list: (place, limit) => operatorTokens.list(place && { createdAt: place[0], id: place[1] }, limit),
        show,
      }),

    async createToken(input) {
      const expiresAt = readInput(input, clock());
      const { name, role } = input;
      const createdBy = JSON.stringify(await findCreator());
      const { text, record } = await operatorTokens.create({ name, role, expiresAt, createdBy }, ({ id }) =>
        describeAction(
          'token.create',
          `token ${id}`,
          compareMembers({}, { name, role, expires_at: showTimeOrNull(expiresAt) }),
        ),
      );
      return { ...show(record), token: text };
    },

    async revokeToken(id) {
      const before = await find(id);
      if (before.revokedAt === null) {
        const changes = { state: { from: show(before).state, to: 'revoked' } };
        await operatorTokens.revoke(id, describeAction('token.revoke', `token ${id}`, changes));
      }
      return show(await find(id));
    },
  };

  /** The person, also if the person uses a token: all tokens of a person end with the person. */
  async function findCreator(): Promise<ActorView> {
    const used = actor.type === 'token' ? await operatorTokens.find(actor.id) : null;
    const creator = used && readActor(tryParse(used.createdBy));
    return creator?.type === 'person' ? creator : nameActor(actor);
  }

  async function find(id: string): Promise<OperatorToken> {
    const token = await operatorTokens.find(id);
    if (token === null) throw createAdminError(404, `There is no token ${JSON.stringify(id)}.`);
    return token;
  }
}

/** Returns when the token expires. Throws for a member that cannot be taken. */
function readInput({ name, expires_at: given }: TokenInput, now: number): number | null {
  const expiresAt = given == null ? null : readTime(given);
  const invalid: InvalidMember[] = [];
  if (!isKeyName(name)) invalid.push({ path: 'name', message: `must be ${KEY_NAME_RULE}` });
  if (expiresAt === null || (typeof expiresAt === 'number' && expiresAt > now)) {
    if (invalid.length === 0) return expiresAt;
  } else {
    const message = typeof expiresAt === 'number' ? 'must be in the future' : expiresAt.error;
    invalid.push({ path: 'expires_at', message });
  }
  throw createInputError(invalid);
}

function showToken(token: OperatorToken, now: number): TokenView {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    state: checkState(token, now),
    created_at: showTime(token.createdAt),
    created_by: readActor(tryParse(token.createdBy)),
    expires_at: showTimeOrNull(token.expiresAt),
    last_used_at: showTimeOrNull(token.lastUsedAt),
    revoked_at: showTimeOrNull(token.revokedAt),
  };
}

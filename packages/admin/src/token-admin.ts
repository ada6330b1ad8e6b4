/** The operations of an administrator on personal tokens of operators. */
import {
  arePatterns,
  type InvalidMember,
  PATTERNS_RULE,
  type TokenInput,
  type TokenView,
} from '@erp-proxy/contract';
import { isKeyName, KEY_NAME_RULE } from '@erp-proxy/control/keys/format';
import { readTokenInstances } from '@erp-proxy/control/keys/operator-tokens';
import type { OperatorToken } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { createAdminError, createInputError } from './admin-error.ts';
import { compareMembers, type DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { findPersonBehind } from './person-behind.ts';
import { readTime, showTime, showTimeOrNull } from './time.ts';
import { checkState, readCreator } from './views.ts';

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
      // All tokens of a person end with the person.
      const createdBy = JSON.stringify(await findPersonBehind(actor, operatorTokens));
      const { name, role, instances = actor.instances } = input;
      const token = { name, role, instances: instances && JSON.stringify(instances), expiresAt, createdBy };
      const { text, record } = await operatorTokens.create(token, ({ id }) => {
        const made = { name, role, instances, expires_at: showTimeOrNull(expiresAt) };
        return describeAction('token.create', `token ${id}`, compareMembers({}, made));
      });
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

  async function find(id: string): Promise<OperatorToken> {
    const token = await operatorTokens.find(id);
    if (token === null) throw createAdminError(404, `There is no token ${JSON.stringify(id)}.`);
    return token;
  }
}

/** Returns when the token expires. Throws for a member that cannot be taken. */
function readInput({ name, instances, expires_at: given }: TokenInput, now: number): number | null {
  const expiresAt = given == null ? null : readTime(given);
  const invalid: InvalidMember[] = [];
  if (!isKeyName(name)) invalid.push({ path: 'name', message: `must be ${KEY_NAME_RULE}` });
  if (instances != null && !arePatterns(instances))
    invalid.push({ path: 'instances', message: PATTERNS_RULE });
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
    instances: readTokenInstances(token),
    state: checkState(token, now),
    created_at: showTime(token.createdAt),
    created_by: readCreator(token),
    expires_at: showTimeOrNull(token.expiresAt),
    last_used_at: showTimeOrNull(token.lastUsedAt),
    revoked_at: showTimeOrNull(token.revokedAt),
  };
}

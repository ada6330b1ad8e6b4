/** Personal tokens of operators, for the admin API. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { ROLES } from './roles.ts';
import { instancePatterns, named, PAGE_QUERY, pageOf, time } from './schema-names.ts';

const role = z.enum(ROLES);

const VIEW_MEMBERS = {
  id: z.string(),
  name: z.string(),
  role,
  instances: instancePatterns,
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: time,
  created_by: actor.nullable().describe('Null: the store does not tell.'),
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe('Accurate to about a minute.'),
  revoked_at: time.nullable(),
};

/** A personal token, without its secret. */
export const tokenView = named('OperatorToken', z.object(VIEW_MEMBERS));
export type TokenView = z.infer<typeof tokenView>;

export const newTokenView = named(
  'NewOperatorToken',
  z.object({
    ...VIEW_MEMBERS,
    token: z.string().describe('The text to send as `authorization: Bearer`. No other answer has it.'),
  }),
);
export type NewTokenView = z.infer<typeof newTokenView>;

export const tokenInput = named(
  'OperatorTokenInput',
  z.strictObject({
    name: z.string().describe('Who or what will use it.'),
    role,
    instances: instancePatterns
      .describe(
        'Patterns of the names of the instances that it is limited to. Null: all. Default, and at most: those of its maker.',
      )
      .exactOptional(),
    expires_at: time.nullable().describe('Null: it does not expire by itself.').exactOptional(),
  }),
);
export type TokenInput = z.infer<typeof tokenInput>;

export const tokenQuery = z.strictObject(PAGE_QUERY);

export const tokenPage = named('OperatorTokenPage', pageOf(tokenView));

/** What made a change or a call, as the audit names it. */
import { z } from 'zod';
import { ACTOR_TYPES } from './roles.ts';
import { named } from './schema-names.ts';

export const actor = named(
  'Actor',
  z.object({
    type: z.enum(ACTOR_TYPES),
    id: z
      .string()
      .describe(
        '`<issuer>/<subject>` of a person, the id of a personal token, `cli:<user>@<host>` of a command; `token` and `session` for `admin.token`.',
      ),
    name: z.string(),
  }),
);
export type ActorView = z.infer<typeof actor>;

/** Persons who have signed in by the identity provider of operators. */
import { z } from 'zod';
import { ROLES } from './roles.ts';
import { instancePatterns, named, pageOf, time } from './schema-names.ts';

export const personView = named(
  'Person',
  z.object({
    id: z.string().describe('`<provider>/<subject>`'),
    name: z.string().describe('The name that the provider gives.'),
    state: z
      .enum(['active', 'denied', 'refused', 'unknown'])
      .describe(
        '`denied`: the subject is denied. `refused`: when the provider was asked last, no rule matched. `unknown`: rules ask for claims that were not stored, so that the person must sign in again.',
      ),
    role: z
      .enum(ROLES)
      .nullable()
      .describe('What the present rules give for the last known claims. Null: no role, or not known.'),
    instances: instancePatterns,
    confirmed_at: time.describe('When the provider has confirmed the person for the last time.'),
  }),
);
export type PersonView = z.infer<typeof personView>;

export const personPage = named('PersonPage', pageOf(personView));

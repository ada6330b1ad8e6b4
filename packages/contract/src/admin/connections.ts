/** Connections of persons: the Odoo user of a person on an instance with the identity `person`. */
import { z } from 'zod';
import { named, PAGE_QUERY, pageOf, time } from './schema-names.ts';

const MEMBERS = {
  instance: z.string(),
  state: z
    .enum(['connected', 'moved'])
    .describe(
      '`moved`: the address, database or certificates of the instance were changed afterwards, so its key is not used any more.',
    ),
  login: z.string().describe('Login of the user in Odoo.'),
  user_id: z.int().describe('Id of the user in Odoo.'),
  key_expires_at: time.nullable().describe('When the key expires in Odoo; null: never, or not known.'),
  key_renewed: z
    .boolean()
    .describe('True: the proxy replaces the key before it expires, and the last attempt has not failed.'),
  created_at: time,
  updated_at: time.describe('When the key was entered the last time.'),
};

/** A connection without its key, as its person sees it. */
export const ownConnectionView = named('OwnConnection', z.object(MEMBERS));
export type OwnConnectionView = z.infer<typeof ownConnectionView>;

export const ownConnections = named(
  'OwnConnections',
  z.object({
    person: z.string().describe('`<issuer>/<subject>` of the person.'),
    name: z.string(),
    connections: z.array(ownConnectionView),
  }),
);
export type OwnConnections = z.infer<typeof ownConnections>;

/** An instance to which a person can connect. */
export const connectableView = named(
  'Connectable',
  z.object({
    instance: z.string(),
    url: z.string().describe('Address of the Odoo server.'),
    db: z.string().describe('Name of the database.'),
    connection: ownConnectionView.nullable().describe('Null: the person has not connected.'),
  }),
);
export type ConnectableView = z.infer<typeof connectableView>;

export const connectionCheck = named(
  'ConnectionCheck',
  z.object({
    ok: z.boolean().describe('True if Odoo accepts the stored key.'),
    text: z.string().describe('The finding, and what to do.'),
  }),
);
export type ConnectionCheck = z.infer<typeof connectionCheck>;

/** A connection of any person, without its key. */
export const connectionView = named(
  'Connection',
  z.object({
    person: z.string().describe('`<issuer>/<subject>`'),
    ...MEMBERS,
    key_failure: z.string().nullable().describe('Why the last renewal of the key failed; null: it did not.'),
  }),
);
export type ConnectionView = z.infer<typeof connectionView>;

export const connectionPage = named('ConnectionPage', pageOf(connectionView));

export const connectionQuery = z.strictObject({
  ...PAGE_QUERY,
  instance: z.string().describe('The whole name.').exactOptional(),
  person: z.string().describe('The whole id.').exactOptional(),
});

export const connectionInput = named(
  'ConnectionInput',
  z.strictObject({
    login: z.string('must be the login of the user in Odoo').describe('Login of the user in Odoo.'),
    api_key: z
      .string('must be an API key of the user in Odoo')
      .meta({ writeOnly: true })
      .describe('An API key of the user in Odoo. A password is refused.'),
  }),
);
export type ConnectionInput = z.infer<typeof connectionInput>;

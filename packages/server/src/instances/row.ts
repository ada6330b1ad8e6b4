/**
 * An instance as it lies in the store: the shape of its body, read and written here alone, and the sealing of its
 * secrets. Row and secrets are bound together: what was moved or changed in the store does not open.
 */
import { z } from 'zod';
import type { StoredInstance } from '../stores/ports.ts';
import { MEMBERS } from './members.ts';
import { type Vault, VaultError } from './vault.ts';

const BODY = z.strictObject({
  v: z.literal(1),
  ...MEMBERS,
  /** Sealed, where the body is that of a row; the text itself in an {@link openRow opened} one. */
  api_key: z.string(),
  key_expires_at: z.number().nullable(),
  is_expiry_known: z.boolean(),
  /** Why the last rotation failed, for operators. */
  key_failure: z.string().nullable(),
  /** A second key at Odoo, while one takes over from the other. */
  pending: z
    .strictObject({
      /** As the other. */
      api_key: z.string(),
      step: z.enum(['proving', 'revoking']),
      since: z.number(),
      expires_at: z.number().nullable(),
    })
    .nullable(),
  created_at: z.number(),
  updated_at: z.number(),
});

export type Body = z.infer<typeof BODY>;

type Identity = Pick<StoredInstance, 'id' | 'name'>;

/** The body with its secrets sealed. Throws a {@link VaultError} that names the instance. */
export function readRow({ name, body }: Pick<StoredInstance, 'name' | 'body'>): Body {
  const result = BODY.safeParse(parseJson(body));
  if (result.success) return result.data;
  const members = result.error.issues.map(({ path }) => path.join('.') || 'the whole');
  throw new VaultError(
    `The instance ${name} in the store is not as this version of the proxy writes it (${members.join(', ')}): start the version that wrote it, or delete its row.`,
  );
}

/** The body with its secrets open: never to be kept, logged or handed out as it is. Throws a {@link VaultError}. */
export function openRow(row: StoredInstance, vault: Vault): Body {
  const body = readRow(row);
  try {
    return mapSecrets(body, (sealed, what) => vault.open(sealed, bind(what, row, body)));
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new VaultError(`The key of the instance ${row.name} cannot be used. ${error.message}`);
  }
}

/** What {@link openRow} opens. */
export function sealRow(
  identity: Identity,
  opened: Body,
  vault: Vault,
): Pick<StoredInstance, 'masterKeyId' | 'body'> {
  const body = mapSecrets(opened, (secret, what) => vault.seal(secret, bind(what, identity, opened)));
  return { masterKeyId: vault.masterKeyId, body: JSON.stringify(body) };
}

type Secret = 'api_key' | 'pending';

function mapSecrets(body: Body, map: (secret: string, what: Secret) => string): Body {
  return {
    ...body,
    api_key: map(body.api_key, 'api_key'),
    pending: body.pending && { ...body.pending, api_key: map(body.pending.api_key, 'pending') },
  };
}

/** All that says who may use a secret and where it goes. Whoever can only write to the store must not turn it elsewhere. */
function bind(what: Secret, { id, name }: Identity, { url, certificates, allow_private }: Body): string {
  return JSON.stringify([what, id, name, url, certificates, allow_private]);
}

/** Undefined where it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

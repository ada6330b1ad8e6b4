/**
 * The stored form of an instance: the shape of its body, which only this file reads and writes, and the sealing of its
 * secrets. A sealed secret is bound to its row: it does not open if the secret or the row was moved or changed.
 */
import { INSTANCE_DEFAULTS, tryParse } from '@erp-proxy/contract';
import { withDefaults } from '@erp-proxy/contract/admin';
import type { StoredInstance } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import { MEMBERS } from './members.ts';
import { type Vault, VaultError } from './vault.ts';

const BODY = z.strictObject({
  v: z.literal(1),
  /** A member that an earlier version did not know has its default. */
  ...withDefaults(MEMBERS, INSTANCE_DEFAULTS),
  /** Sealed in a stored body; the plain text in an {@link openRow opened} one. Null: persons have keys of their own. */
  api_key: z.string().nullable(),
  key_expires_at: z.number().nullable(),
  is_expiry_known: z.boolean(),
  /** Reason for operators why the last rotation failed. */
  key_failure: z.string().nullable(),
  /** The second key at Odoo during a rotation. */
  pending: z
    .strictObject({
      /** Sealed as the `api_key` above. */
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

type RowId = Pick<StoredInstance, 'id' | 'name'>;

/** Parses the body; its secrets stay sealed. Throws a {@link VaultError} that names the instance. */
export function readRow({ name, body }: Pick<StoredInstance, 'name' | 'body'>): Body {
  const result = BODY.safeParse(tryParse(body));
  if (result.success) return result.data;
  const members = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the whole'],
  );
  throw new VaultError(
    `The instance ${name} in the store is not as this version of the proxy writes it (${members.join(', ')}): start the version that wrote it, or remove it.`,
  );
}

/** Parses the body and opens its secrets. Never store, log or pass on this body. Throws a {@link VaultError}. */
export function openRow(row: StoredInstance, vault: Vault): Body {
  const body = readRow(row);
  try {
    return mapSecrets(body, (sealed, what) => vault.open(sealed, bind(what, row, body)));
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new VaultError(`The key of the instance ${row.name} cannot be used. ${error.message}`);
  }
}

/** The reverse of {@link openRow}. */
export function sealRow(
  row: RowId,
  opened: Body,
  vault: Vault,
): Pick<StoredInstance, 'masterKeyId' | 'body'> {
  const body = mapSecrets(opened, (secret, what) => vault.seal(secret, bind(what, row, opened)));
  // Left out, so that processes of the earlier release, which do not know the members, read the body.
  const { identity, tags, ...others } = body;
  const stored = {
    ...others,
    ...(identity === INSTANCE_DEFAULTS.identity ? null : { identity }),
    ...(tags.length === 0 ? null : { tags }),
  };
  return { masterKeyId: vault.masterKeyId, body: JSON.stringify(stored) };
}

type Secret = 'api_key' | 'pending';

function mapSecrets(body: Body, map: (secret: string, what: Secret) => string): Body {
  return {
    ...body,
    api_key: body.api_key === null ? null : map(body.api_key, 'api_key'),
    pending: body.pending && { ...body.pending, api_key: map(body.pending.api_key, 'pending') },
  };
}

/**
 * Binds a secret to the members that determine where it is sent and for whom, so that write access to the store is not
 * enough to redirect it.
 */
function bind(what: Secret, { id, name }: RowId, { url, certificates, allow_private }: Body): string {
  return JSON.stringify([what, id, name, url, certificates, allow_private]);
}

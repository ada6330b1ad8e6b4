/**
 * The stored form of a connection, which only this file reads and writes, and the sealing of its key. The key is bound
 * to the person, the instance and its server: it does not open for another person, or after its row was moved or
 * changed.
 */
import { tryParse } from '@erp-proxy/contract';
import type { ConnectionId, StoredConnection } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import { type Vault, VaultError } from '../instances/vault.ts';

const BODY = z.strictObject({
  v: z.literal(1),
  /** Name of the server for which the key was given (`Instance.serverId`). */
  server: z.string(),
  login: z.string(),
  user_id: z.int(),
  /** Sealed in a stored body; the plain text in an {@link openConnection opened} one. */
  api_key: z.string(),
  key_expires_at: z.number().nullable(),
  /** Reason for operators why the last renewal failed. */
  key_failure: z.string().nullable().default(null),
  /** The second key at Odoo during a renewal, as that of an instance. Sealed as the `api_key` above. */
  pending: z
    .strictObject({
      api_key: z.string(),
      step: z.enum(['proving', 'revoking']),
      since: z.number(),
      expires_at: z.number().nullable(),
    })
    .nullable()
    .default(null),
  created_at: z.number(),
  updated_at: z.number(),
});

export type Body = z.infer<typeof BODY>;

/** Parses the body; its key stays sealed. Throws a {@link VaultError} that names the connection. */
export function readConnection({ instance, person, body }: ConnectionId & { body: string }): Body {
  const result = BODY.safeParse(tryParse(body));
  if (result.success) return result.data;
  throw new VaultError(
    `The connection of ${person} to ${instance} in the store is not as this version of the proxy writes it: start the version that wrote it, or remove it.`,
  );
}

/** Parses the body and opens its keys. Never store, log or pass on this body. Throws a {@link VaultError}. */
export function openConnection(row: StoredConnection, vault: Vault): Body {
  const body = readConnection(row);
  try {
    return mapKeys(body, (sealed, what) => vault.open(sealed, bind(what, row, body)));
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new VaultError(`The key of ${row.person} for ${row.instance} cannot be used. ${error.message}`);
  }
}

/** The reverse of {@link openConnection}. */
export function sealConnection(
  id: ConnectionId,
  opened: Body,
  vault: Vault,
): Pick<StoredConnection, 'masterKeyId' | 'body'> {
  const body = mapKeys(opened, (key, what) => vault.seal(key, bind(what, id, opened)));
  return { masterKeyId: vault.masterKeyId, body: JSON.stringify(body) };
}

type Secret = 'connection' | 'pending connection';

function mapKeys(body: Body, map: (key: string, what: Secret) => string): Body {
  const { api_key, pending } = body;
  return {
    ...body,
    api_key: map(api_key, 'connection'),
    pending: pending && { ...pending, api_key: map(pending.api_key, 'pending connection') },
  };
}

function bind(what: Secret, { instance, person }: ConnectionId, { server, user_id }: Body): string {
  return JSON.stringify([what, person, instance, server, user_id]);
}

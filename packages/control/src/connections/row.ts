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

/** Parses the body and opens its key. Never store, log or pass on this body. Throws a {@link VaultError}. */
export function openConnection(row: StoredConnection, vault: Vault): Body {
  const body = readConnection(row);
  try {
    return { ...body, api_key: vault.open(body.api_key, bind(row, body)) };
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
  const body = { ...opened, api_key: vault.seal(opened.api_key, bind(id, opened)) };
  return { masterKeyId: vault.masterKeyId, body: JSON.stringify(body) };
}

function bind({ instance, person }: ConnectionId, { server, user_id }: Body): string {
  return JSON.stringify(['connection', person, instance, server, user_id]);
}

/**
 * The stored form of a consent, which only this file reads and writes, and the sealing of its secrets. They are bound
 * to the consent, its person and its application.
 */
import { tryParse } from '@erp-proxy/contract';
import type { StoredConsent } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import { type Vault, VaultError } from '../instances/vault.ts';

const SECRETS = z.strictObject({
  claims: z.record(z.string(), z.unknown()),
  refresh_token: z.string().nullable(),
});

export type Secrets = z.infer<typeof SECRETS>;

const STORED = z.strictObject({
  v: z.literal(1),
  name: z.string(),
  scopes: z.array(z.string()),
  resource: z.string(),
  address: z.string(),
  ask_at: z.number(),
  confirmed_at: z.number(),
  server_id: z.string().nullable(),
  /** JSON text of {@link SECRETS}, sealed. */
  sealed: z.string(),
});

type Stored = z.infer<typeof STORED>;

export type Body = Omit<Stored, 'sealed'> & { secrets: Secrets };

type Place = Pick<StoredConsent, 'id' | 'person' | 'application'>;

/** Parses the body; its secrets stay sealed. Throws a {@link VaultError} that names the consent. */
export function readConsent({ id, body }: Pick<StoredConsent, 'id' | 'body'>): Stored {
  const result = STORED.safeParse(tryParse(body));
  if (result.success) return result.data;
  throw new VaultError(`The consent ${id} in the store is not as this version of the proxy writes it.`);
}

/** Throws a {@link VaultError}. */
export function openConsent(row: StoredConsent, vault: Vault): Body {
  const { sealed, ...body } = readConsent(row);
  const secrets = SECRETS.safeParse(tryParse(vault.open(sealed, bind(row))));
  if (secrets.success) return { ...body, secrets: secrets.data };
  throw new VaultError(`The consent ${row.id} in the store is not as this version of the proxy writes it.`);
}

/** The reverse of {@link openConsent}: JSON text. */
export function sealConsent(place: Place, { secrets, ...body }: Body, vault: Vault): string {
  return JSON.stringify({ ...body, sealed: vault.seal(JSON.stringify(secrets), bind(place)) });
}

function bind({ id, person, application }: Place): string {
  return JSON.stringify(['consent', id, person, application]);
}

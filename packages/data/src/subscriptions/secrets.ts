/**
 * Secrets of webhooks, and the signatures that they make (Standard Webhooks 1.0). A stored secret is sealed, and bound
 * to its subscription.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Vault } from '@erp-proxy/control/instances';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret in the form that the operator gets once. */
export function createSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function sealSecret(secret: string, subscription: string, vault: Vault): string {
  return vault.seal(secret, bind(subscription));
}

/** Throws a `VaultError`. */
export function openSecret(sealed: string, subscription: string, vault: Vault): string {
  return vault.open(sealed, bind(subscription));
}

/** Name of the master key that seals the secret; empty if the text is not a sealed secret. */
export function readMasterKeyId(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

/** The value of `webhook-signature`: one signature for each secret. */
export function sign(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

function bind(subscription: string): string {
  return JSON.stringify(['webhook secret', subscription]);
}

/**
 * Seals the body and the result of one job, part by part, with AES-256-GCM. Each job has a key of its own, which is
 * stored sealed: a new master key opens it as long as the old one is known.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { Vault } from '@erp-proxy/control/instances';

export interface JobSeal {
  /** `name` is bound to the bytes: they open under the same name only. */
  seal(name: string, bytes: Uint8Array): Uint8Array;
  /** Throws if the bytes were not sealed under this name. */
  open(name: string, sealed: Uint8Array): Uint8Array;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `secret`: the sealed key, to be stored with the job. */
export function createJobSeal(vault: Vault, job: string): { seal: JobSeal; secret: string } {
  const key = randomBytes(KEY_BYTES);
  return { seal: createSeal(key), secret: vault.seal(key.toString('base64'), nameKey(job)) };
}

/** Throws a `VaultError`. */
export function openJobSeal(vault: Vault, job: string, secret: string): JobSeal {
  return createSeal(Buffer.from(vault.open(secret, nameKey(job)), 'base64'));
}

function nameKey(job: string): string {
  return `key of the job ${job}`;
}

function createSeal(bytes: Uint8Array): JobSeal {
  const key = createSecretKey(bytes);
  return {
    seal(name, part) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name));
      const text = [cipher.update(part), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...text]);
    },
    open(name, sealed) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(text), decipher.final()]);
    },
  };
}

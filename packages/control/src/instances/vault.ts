/**
 * Seals secrets under the operator's master key, so that read access to the store reveals no secret. Knows neither the
 * store nor the purpose of the secrets.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

export interface Vault {
  /** Name of the current master key, under which `seal` seals. */
  readonly masterKeyId: string;
  /** True if texts sealed under this master key can be opened. */
  knows(masterKeyId: string): boolean;
  /**
   * Returns a text that {@link open} opens only with the same `boundTo`, which describes the secret and its purpose.
   */
  seal(secret: string, boundTo: string): string;
  /** Throws a {@link VaultError}. */
  open(sealed: string, boundTo: string): string;
}

/** A vault whose master keys can change. */
export interface RenewableVault extends Vault {
  /** Uses these master keys from now on. Throws a {@link VaultError}, and changes nothing, if one is invalid. */
  renew(keys: MasterKeys & { masterKey: string }): void;
}

/** Stored secrets cannot be used with the current settings or data. The message is for the operator. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

export interface MasterKeys {
  /** The key that seals and opens: 32 bytes in base64. Null: none is set. */
  masterKey: string | null;
  /** Further keys, which only open. */
  otherMasterKeys: readonly string[];
}

const MASTER_KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
/**
 * Nonces are random, because replicas share a key but no counter. Random nonces allow 2^32 seals of a key (NIST SP
 * 800-38D 8.3).
 */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** `v1.<name of the master key>.<nonce>.<cipher text and tag>` */
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/** Null without a master key: nothing can be sealed. */
export function createVault({ masterKey, otherMasterKeys }: MasterKeys): RenewableVault | null {
  if (masterKey === null) return null;
  let { current, keys } = deriveKeys(masterKey, otherMasterKeys);

  return {
    get masterKeyId() {
      return current.id;
    },
    knows: (masterKeyId) => keys.has(masterKeyId),

    renew({ masterKey, otherMasterKeys }) {
      ({ current, keys } = deriveKeys(masterKey, otherMasterKeys));
    },

    seal(secret, boundTo) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(boundTo));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${current.id}.${nonce.toString('base64url')}.${text.toString('base64url')}`;
    },

    open(sealed, boundTo) {
      const [, id = '', nonce = '', text = ''] = SEALED.exec(sealed) ?? [];
      if (id === '') throw new VaultError('A stored secret is not as this version of the proxy seals it.');
      const key = keys.get(id);
      if (key === undefined) throw new VaultError(explainUnknownKeys([id], current.id));
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(boundTo));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // The error of node:crypto has no further information.
        throw new VaultError(
          'A stored secret was changed, or moved to another place, by something other than this proxy: give it again.',
        );
      }
    },
  };
}

/** `currentId`: null if no master key is set. */
export function explainUnknownKeys(ids: readonly string[], currentId: string | null): string {
  const present = currentId === null ? 'no master key is set' : `vault.masterKey is ${currentId}`;
  return (
    `Stored instances are sealed under master keys that are not set here: ${ids.join(', ')} (${present}). ` +
    'Set the right vault.masterKey, or add the missing ones to vault.otherMasterKeys; ' +
    'where one is lost, docs/instances.md says what to do.'
  );
}

function deriveKeys(masterKey: string, otherMasterKeys: readonly string[]) {
  const current = deriveKey(masterKey, 'vault.masterKey');
  const others = otherMasterKeys.map((text) => deriveKey(text, 'vault.otherMasterKeys'));
  return { current, keys: new Map([...others, current].map(({ id, key }) => [id, key])) };
}

/**
 * Derives the key that seals, and its name. The master key itself encrypts nothing: derived keys can change with the
 * version, and do not reveal it.
 */
function deriveKey(masterKey: string, setting: string): { id: string; key: KeyObject } {
  const bytes = Buffer.from(masterKey, 'base64');
  if (bytes.length !== MASTER_KEY_BYTES) {
    throw new VaultError(
      `${setting} must be ${MASTER_KEY_BYTES} random bytes in base64; make them with: openssl rand -base64 32`,
    );
  }
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `erp-proxy vault v1 ${purpose}`, length));
  return { id: derive('name', 4).toString('hex'), key: createSecretKey(derive('seal', 32)) };
}

/**
 * Seals stored answers with AES-256-GCM. A key for each id is derived from one secret. A sealed answer therefore opens
 * only for its own id, and the limit on random nonces of one key is never reached (NIST SP 800-38D 8.3). Pure.
 */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/** An answer as it was sent, without its headers. */
export interface StoredAnswer {
  status: number;
  body: Uint8Array;
}

export interface AnswerSeal {
  seal(id: string, answer: StoredAnswer): Uint8Array;
  /** Throws if the answer was not sealed for this id with this secret. */
  open(id: string, sealed: Uint8Array): StoredAnswer;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const STATUS_BYTES = 2;

/** A sealed answer has the nonce, the tag, and the cipher text of the status (2 bytes, big-endian) and the body. */
export function createAnswerSeal(secret: Uint8Array): AnswerSeal {
  const root = createSecretKey(secret);
  const deriveKey = (id: string) => new Uint8Array(hkdfSync('sha256', root, '', `answer ${id}`, 32));
  return {
    seal(id, { status, body }) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, deriveKey(id), nonce, { authTagLength: TAG_BYTES });
      const head = Buffer.alloc(STATUS_BYTES);
      head.writeUInt16BE(status);
      const text = [cipher.update(head), cipher.update(body), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...text]);
    },
    open(id, sealed) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, deriveKey(id), nonce, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([
        decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]);
      return { status: text.readUInt16BE(), body: text.subarray(STATUS_BYTES) };
    },
  };
}

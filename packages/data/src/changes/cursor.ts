/**
 * Cursors: the state of one caller's changes, sealed with AES-256-GCM under a key for the client and its server. A
 * cursor of another client or server is therefore unknown, and its content stays hidden. The request members that must
 * stay the same are inside, so that an error can name the one that changed. Pure.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import { type ChangesState, STATE_VERSION } from './terms.ts';

/** The client and the server that a cursor belongs to. */
export interface CursorOwner {
  /** Id of the client, which all keys of the client share. */
  clientId: string;
  /** Text that identifies the server, the database and the user. */
  server: string;
}

/** The members of the request that must stay the same while a cursor is used. */
export type CursorTerms = Readonly<Record<'model_id' | 'domain' | 'fields' | 'context', string>>;

export type OpenedCursor =
  | { state: ChangesState }
  /** `changed`: the first member that differs from that of the cursor. */
  | { problem: 'unknown' | 'old' | 'changed'; changed?: keyof CursorTerms };

export interface CursorSeal {
  seal(owner: CursorOwner, terms: CursorTerms, state: ChangesState): string;
  open(owner: CursorOwner, terms: CursorTerms, cursor: string): OpenedCursor;
}

/** Far more than any cursor of the proxy has. */
export const CURSOR_LENGTH_MAX = 128 * 1024;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The version, and the sealed state as base64url. */
const CURSOR = /^c(\d{1,6})\.([\w-]+)$/;
const VERSION = `c${STATE_VERSION}`;
/** Enough that digests of different terms are never equal by chance. */
const DIGEST_BYTES = 12;

export function createCursorSeal(secret: Uint8Array): CursorSeal {
  const root = createSecretKey(secret);
  // One key for each owner: no key reaches the limit on random nonces (NIST SP 800-38D 8.3).
  const deriveKey = ({ clientId, server }: CursorOwner) =>
    new Uint8Array(hkdfSync('sha256', root, '', JSON.stringify([VERSION, clientId, server]), 32));
  return {
    seal(owner, terms, state) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, deriveKey(owner), nonce, { authTagLength: TAG_BYTES });
      const text = JSON.stringify({ terms: digestTerms(terms), state });
      const sealed = [cipher.update(text, 'utf8'), cipher.final()];
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64url')}`;
    },
    open(owner, terms, cursor) {
      const [, version, body = ''] = (cursor.length <= CURSOR_LENGTH_MAX && CURSOR.exec(cursor)) || [];
      if (version === undefined) return UNKNOWN;
      if (Number(version) !== STATE_VERSION) return { problem: 'old' };
      const text = decrypt(deriveKey(owner), Buffer.from(body, 'base64url'));
      if (text === null) return UNKNOWN;
      const content = JSON.parse(text) as { terms: CursorTerms; state: ChangesState };
      const digests = digestTerms(terms);
      const names = Object.keys(digests) as (keyof CursorTerms)[];
      const changed = names.find((name) => digests[name] !== content.terms[name]);
      return changed === undefined ? { state: content.state } : { problem: 'changed', changed };
    },
  };
}

const UNKNOWN: OpenedCursor = { problem: 'unknown' };

/** Null if the bytes were not sealed under this key. */
function decrypt(key: Uint8Array, bytes: Buffer): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString();
  } catch {
    return null;
  }
}

function digestTerms({ model_id, domain, fields, context }: CursorTerms): CursorTerms {
  const digest = (text: string) =>
    createHash('sha256').update(text).digest().subarray(0, DIGEST_BYTES).toString('base64url');
  return {
    model_id: digest(model_id),
    fields: digest(fields),
    domain: digest(domain),
    context: digest(context),
  };
}

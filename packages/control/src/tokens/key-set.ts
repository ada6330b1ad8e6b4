/**
 * The public keys of an issuer, from a JSON Web Key Set (RFC 7517). Keeps only keys that can verify signatures safely:
 * no symmetric keys, no private parts, no RSA keys below 2048 bits. Knows neither HTTP nor when keys are read.
 */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createPauses } from '@erp-proxy/async/tasks';
import { readValue } from '@erp-proxy/json';
import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, type JWK, type JWTVerifyGetKey } from 'jose';

/** Maximum number of keys, more than any provider has. Each key takes time to read. */
const KEYS_MAX = 100;
/** Number of keys that are read without a pause. */
const KEYS_AT_ONCE = 20;
const RSA_BITS_MIN = 2048;
/** Maximum length of an RSA key. With a longer one, a verification takes milliseconds. */
const RSA_BITS_MAX = 8192;
const EXPONENT_BYTES_MAX = 4;
const KEY_ID_LENGTH_MAX = 256;
const CURVES = new Set(['P-256', 'P-384', 'P-521']);

export interface KeySet {
  /** Number of usable keys. */
  readonly size: number;
  /** Finds the key that the header of a token names. Rejects with an error of jose if there is none. */
  readonly find: JWTVerifyGetKey;
  /** True if the set has the key with this thumbprint. */
  has(thumbprint: string): boolean;
}

/** A text that is not a key set, or has no usable key. The message is for the operator's log. */
export class KeySetError extends Error {
  override readonly name = 'KeySetError';
}

/** Rejects with a {@link KeySetError}. */
export async function readKeySet(bytes: Uint8Array): Promise<KeySet> {
  // Some providers list a key twice. A token that names it would then match two keys.
  const found = new Map<string, JWK>();
  const pauseAfter = createPauses(KEYS_AT_ONCE);
  for (const given of listKeys(bytes)) {
    await pauseAfter(1);
    const key = readKey(given);
    if (key !== null) found.set(JSON.stringify(key), key);
  }
  const keys = [...found.values()].filter(({ alg, ...others }) => {
    // The same key without an algorithm verifies everything that this one verifies.
    return alg === undefined || !found.has(JSON.stringify(others));
  });
  if (keys.length === 0) throw new KeySetError('the key set has no key that can verify signatures');
  const thumbprints = new Set(await Promise.all(keys.map((key) => calculateJwkThumbprint(key))));
  return {
    size: keys.length,
    find: createLocalJWKSet({ keys }),
    has: (thumbprint) => thumbprints.has(thumbprint),
  };
}

/** Returns the thumbprint, which identifies a key whatever its `kid` (RFC 7638). */
export async function nameKey(key: Parameters<typeof exportJWK>[0]): Promise<string> {
  return calculateJwkThumbprint(await exportJWK(key));
}

function listKeys(bytes: Uint8Array): readonly unknown[] {
  let value: unknown;
  try {
    value = readValue(bytes);
  } catch (error) {
    throw new KeySetError(`the key set is not JSON: ${(error as Error).message}`);
  }
  const keys = typeof value === 'object' && value !== null && 'keys' in value ? value.keys : null;
  if (!Array.isArray(keys)) throw new KeySetError('the key set has no list `keys`');
  if (keys.length > KEYS_MAX) throw new KeySetError(`the key set has more than ${KEYS_MAX} keys`);
  return keys;
}

/** The public members of a usable key; null if the key has another purpose, such as encryption. */
function readKey(given: unknown): JWK | null {
  if (typeof given !== 'object' || given === null) return null;
  const { kty, use, alg, kid, key_ops, crv, n, e, x, y } = given as Record<string, unknown>;
  if (use !== undefined && use !== 'sig') return null;
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes('verify'))) return null;
  if (kid !== undefined && !(typeof kid === 'string' && kid.length <= KEY_ID_LENGTH_MAX)) return null;
  if (alg !== undefined && typeof alg !== 'string') return null;
  const named = { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) };
  if (kty === 'RSA' && isRsaKey(n, e)) return canonicalize({ kty, n, e }, named);
  if (kty === 'EC' && typeof crv === 'string' && CURVES.has(crv)) {
    return canonicalize({ kty, crv, x, y }, named);
  }
  return kty === 'OKP' && crv === 'Ed25519' ? canonicalize({ kty, crv, x }, named) : null;
}

/**
 * Rewrites the members in canonical form, which a thumbprint needs: some providers add or omit a leading zero byte,
 * against RFC 7518 section 6. Null if the members are not a key, such as a point that is not on the curve.
 */
function canonicalize(members: Record<string, unknown>, named: Pick<JWK, 'kid' | 'alg'>): JWK | null {
  try {
    const key = createPublicKey({ key: members as JsonWebKey, format: 'jwk' });
    return { ...(key.export({ format: 'jwk' }) as JWK), ...named };
  } catch {
    return null;
  }
}

function isRsaKey(modulus: unknown, exponent: unknown): boolean {
  if (!isText(modulus) || !isText(exponent)) return false;
  const bits = countBits(Buffer.from(modulus, 'base64url'));
  const exponentBytes = Buffer.from(exponent, 'base64url');
  if (exponentBytes.length === 0 || exponentBytes.length > EXPONENT_BYTES_MAX) return false;
  const value = exponentBytes.readUIntBE(0, exponentBytes.length);
  return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && value >= 3 && value % 2 === 1;
}

function countBits(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first]!) + 24;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

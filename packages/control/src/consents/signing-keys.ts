/**
 * The keys that sign the tokens of applications: sealed in the store, shared by all replicas, and replaced at
 * intervals. A new key is published for some time before it signs, and an old one for longer than its tokens live.
 */
import { generateKeyPair, hash, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import type { SignInObject, SignInObjectStore } from '@erp-proxy/stores/ports';
import { type Vault, VaultError } from '../instances/vault.ts';

export interface SigningKeys {
  /** The key that signs now, with its private members. */
  current(): Promise<SigningKey>;
  /** The public members of all keys whose tokens may be valid, as a JSON Web Key Set (RFC 7517). */
  publish(): Promise<PublishedKeys>;
  /** As {@link publish}, from the store: another replica may have made a key a moment ago. */
  readPublished(): Promise<PublishedKeys>;
}

export interface PublishedKeys {
  keys: JsonWebKey[];
}

export interface SigningKey extends JsonWebKey {
  readonly kid: string;
}

export interface SigningKeysOptions {
  store: Pick<SignInObjectStore, 'put' | 'list'>;
  vault: Vault;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with the errors of keys that cannot be opened. */
  onError: (error: unknown) => void;
}

export const SIGNING_ALGORITHM = 'ES256';

const KIND = 'signing-key';
const DAY_MS = 86_400_000;
/** Age from which a key is replaced. */
const REPLACED_MS = 30 * DAY_MS;
/** Age from which a key signs, unless there is no other one: readers of the keys must know it by then. */
const PUBLISHED_MS = 3_600_000;
/** Time for which keys are used from memory. */
const KEPT_MS = 60_000;
/** Two replicas can make a key at the same moment. */
const KEYS_MAX = 20;

interface KnownKey {
  readonly key: SigningKey;
  readonly createdAt: number;
}

const generate = promisify(generateKeyPair);

export function createSigningKeys({ store, vault, clock, onError }: SigningKeysOptions): SigningKeys {
  let known: { keys: readonly KnownKey[]; readAt: number } | null = null;
  let reading: Promise<readonly KnownKey[]> | null = null;

  function open({ id, body, createdAt }: SignInObject): KnownKey[] {
    try {
      return [{ key: JSON.parse(vault.open(body, bind(id))), createdAt }];
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      onError(error);
      return [];
    }
  }

  async function read(): Promise<readonly KnownKey[]> {
    const now = clock();
    const stored = (await store.list(KIND)).filter(({ expiresAt }) => now < expiresAt);
    let keys = stored.flatMap(open);
    const newest = keys.at(-1);
    if (newest === undefined || now - newest.createdAt >= REPLACED_MS) keys = [...keys, await make(now)];
    known = { keys, readAt: now };
    return keys;
  }

  async function make(now: number): Promise<KnownKey> {
    const { privateKey } = await generate('ec', { namedCurve: 'P-256' });
    const jwk = privateKey.export({ format: 'jwk' });
    const kid = hash('sha256', JSON.stringify([jwk.x, jwk.y]), 'base64url');
    const key: SigningKey = { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' };
    const object = {
      kind: KIND,
      id: kid,
      consent: null,
      body: vault.seal(JSON.stringify(key), bind(kid)),
      consumedAt: null,
      createdAt: now,
      // Its last token is signed when the next key is old enough, and lives for less than a day.
      expiresAt: now + REPLACED_MS + PUBLISHED_MS + 2 * DAY_MS,
    };
    await store.put(object, KEYS_MAX);
    return { key, createdAt: now };
  }

  async function load(): Promise<readonly KnownKey[]> {
    const now = clock();
    if (known !== null && Math.abs(now - known.readAt) < KEPT_MS) return known.keys;
    return readOnce();
  }

  function readOnce(): Promise<readonly KnownKey[]> {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  return {
    async current() {
      const keys = await load();
      const now = clock();
      const ready = keys.filter(({ createdAt }) => now - createdAt >= PUBLISHED_MS);
      // Without a key that is old enough, all replicas choose the same one: the oldest.
      return (ready.at(-1) ?? keys[0]!).key;
    },
    publish: async () => omitPrivate(await load()),
    readPublished: async () => omitPrivate(await readOnce()),
  };
}

function omitPrivate(known: readonly KnownKey[]): PublishedKeys {
  return { keys: known.map(({ key: { d: _, ...published } }) => published) };
}

function bind(kid: string): string {
  return JSON.stringify(['signing key', kid]);
}

/**
 * Client keys: creates and revokes them, and authenticates the keys that callers send. The reason why a key is refused
 * is for the operator's log only. Knows neither HTTP nor the meaning of a policy.
 */
import {
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { Policy } from '@erp-proxy/contract';
import { type CompiledPolicy, compilePolicy } from '@erp-proxy/policy';
import { FreshCache } from '@erp-proxy/stores/fresh-cache';
import type {
  AuditBatch,
  Change,
  KeyListQuery,
  KeyName,
  KeyRecord,
  KeyStore,
  RotationResult,
  Store,
  StoredKey,
} from '@erp-proxy/stores/ports';
import { generateKey, isKeyName, KEY_NAME_RULE, parseKey, readKeyId } from './format.ts';
import { createLastUsed } from './last-used.ts';
import { readStoredPolicy } from './stored-policy.ts';

/** Maximum number of cached keys: about 5 MB. With more, a call may cost one store lookup and one HMAC. */
const CACHED_KEYS_MAX = 10_000;
const HASH_SECRET_LENGTH_MIN = 32;
/** Hash in place of that of an unknown id, so that its comparison takes as long as with a wrong secret. */
const NO_HASH = new Uint8Array(32);

/** A client: its key, and its policy. */
export interface Client {
  readonly key: KeyRecord;
  /** Null: all calls that egress permits. */
  readonly policy: CompiledPolicy | null;
  /** Which routes it may use, if it is an application with a token of this proxy. Left out: all. */
  readonly scopes?: readonly string[];
}

export interface RefusedKey {
  readonly refused: 'missing' | 'malformed' | 'unknown' | 'expired' | 'revoked';
  /**
   * The id in the sent text, if it has one. `unknown` also means a known id with a wrong secret, `revoked` that the
   * person whose calls the key makes is denied.
   */
  readonly keyId: string | null;
}

export interface NewKey {
  /** The text to send in `x-proxy-api`. It is not stored anywhere. */
  readonly key: string;
  readonly record: KeyRecord;
}

/** Invalid input. Nothing was changed. The message is for the user. */
export class KeyInputError extends RangeError {
  override readonly name = 'KeyInputError';
}

/** The members of a key that can be changed. Omitted members stay unchanged. */
export interface KeyChange {
  name?: string | undefined;
  expiresAt?: number | null | undefined;
  policy?: Policy | null | undefined;
}

export interface NewKeyInput extends KeyChange {
  name: string;
  /** JSON text of the actor who makes the key; null: not known. */
  createdBy?: string | null | undefined;
  /** Whose calls it makes; default: nobody's in particular. */
  person?: string | null | undefined;
}

export interface Rotation {
  overlapMs: number;
  /** JSON text of the actor who makes the new key; null: not known. */
  createdBy?: string | null | undefined;
  /** The version that the key must have; default: any. */
  version?: number | undefined;
}

export type DescribeKeyAction = (made: KeyRecord) => AuditBatch;

/** Creates the audit record from the old key before and after the change, and from its successor. */
export type DescribeRotation = (old: { before: KeyRecord; after: KeyRecord }, made: KeyRecord) => AuditBatch;

export interface KeysOptions {
  store: Store;
  /** Milliseconds since 1970. */
  clock: () => number;
  /**
   * The secret with which keys are hashed. A different secret makes all keys unknown. Default: a secret in the store.
   */
  hashSecret?: string | undefined;
  /** Whether an administrator has denied a person. Default: nobody is denied. */
  isPersonDenied?: (person: string) => Promise<boolean>;
  /** Called with errors of background writes. */
  onError?: (error: unknown) => void;
}

export interface Keys {
  /** Rejects if the store fails: a key that cannot be looked up is not accepted. */
  authenticate(text: string | undefined): Promise<Client | RefusedKey>;
  /** The current state of the client, for a long request: its key may have been revoked or its policy changed. */
  renew(client: Client): Promise<Client | RefusedKey>;
  /** The client with this key, for calls on its behalf. Refuses a key for the same reasons as `authenticate`. */
  findClient(id: string): Promise<Client | RefusedKey>;
  /**
   * The policy must be a result of parsePolicy. `describeAction` creates the audit record, which is written in the
   * transaction of the change. `auditBatch` below is such a record, too.
   */
  create(key: NewKeyInput, describeAction?: DescribeKeyAction): Promise<NewKey>;
  find(id: string): Promise<KeyRecord | null>;
  list(query: KeyListQuery): Promise<KeyRecord[]>;
  /** The names of these keys. Unknown ids are left out. */
  listNames(ids: readonly string[]): Promise<KeyName[]>;
  isEmpty(): Promise<boolean>;
  update(id: string, version: number, change: KeyChange, auditBatch?: AuditBatch): Promise<Change>;
  /** False if there is no such key. A revoked key stays as it is, and no audit record is written. */
  revoke(id: string, auditBatch?: AuditBatch): Promise<boolean>;
  /**
   * Creates a successor of a key, which then expires after `overlapMs`. `missing`: there is no such active key.
   * `conflict`: the key has another version. A key with an active successor is not rotated again. Both keys are
   * written, or neither.
   */
  rotate(
    id: string,
    rotation: Rotation,
    describeAction?: DescribeRotation,
  ): Promise<NewKey | Exclude<RotationResult, 'done'>>;
  /** Derives 32 bytes for another purpose from the secret with which keys are hashed. */
  deriveSecret(purpose: string): Uint8Array;
  flush(): Promise<void>;
  /** Completes background writes. The store stays open. */
  close(): Promise<void>;
}

/** A key in memory, with the hashes that verify it. */
interface KnownKey {
  readonly client: Client;
  readonly secretHash: Uint8Array;
  /**
   * SHA-256 of a text that was valid. The same text is then recognized without the HMAC, and the text is not stored.
   */
  textHash: Buffer | null;
}

export async function createKeys({
  store,
  clock,
  hashSecret,
  isPersonDenied = async () => false,
  onError = () => {},
}: KeysOptions): Promise<Keys> {
  const hashKey = await openHashKey(store.keys, hashSecret);
  const cache = new FreshCache<StoredKey, KnownKey>({
    max: CACHED_KEYS_MAX,
    kind: 'key',
    store,
    read: (id) => store.keys.findById(id),
    open: toKnownKey,
  });
  const lastUsed = createLastUsed(store.keys, onError);

  async function authenticate(text: string | undefined): Promise<Client | RefusedKey> {
    if (text === undefined || text === '') return { refused: 'missing', keyId: null };
    const possibleId = readKeyId(text);
    if (possibleId === null) return { refused: 'malformed', keyId: null };
    const textHash = hashText(text);
    const known = cache.find(possibleId);
    if (known?.textHash && timingSafeEqual(known.textHash, textHash)) return check(known.client);

    const parts = parseKey(text);
    if (!parts) return { refused: 'malformed', keyId: null };
    const { id, secret } = parts;
    // A wrong secret of a cached key also gets here, so it takes the same work as an unknown id.
    const found = await cache.load(id);
    const matches = timingSafeEqual(hashSecretOf(secret, hashKey), found?.secretHash ?? NO_HASH);
    if (!found || !matches) return { refused: 'unknown', keyId: id };
    found.textHash = textHash;
    return check(found.client);
  }

  async function findClient(id: string): Promise<Client | RefusedKey> {
    const cached = cache.find(id);
    const known = cached === undefined ? await cache.load(id) : cached;
    return known === null ? { refused: 'unknown', keyId: id } : check(known.client);
  }

  function check(client: Client): Client | RefusedKey | Promise<Client | RefusedKey> {
    const { key } = client;
    const now = clock();
    if (key.revokedAt !== null) return { refused: 'revoked', keyId: key.id };
    if (key.expiresAt !== null && now >= key.expiresAt) return { refused: 'expired', keyId: key.id };
    if (key.person !== null) return checkPerson(client, key.person);
    lastUsed.record(key, now);
    return client;
  }

  async function checkPerson(client: Client, person: string): Promise<Client | RefusedKey> {
    if (await isPersonDenied(person)) return { refused: 'revoked', keyId: client.key.id };
    lastUsed.record(client.key, clock());
    return client;
  }

  async function create(
    { name, expiresAt = null, policy = null, person = null, createdBy = null }: NewKeyInput,
    describeAction?: DescribeKeyAction,
  ) {
    checkName(name);
    checkExpiry(expiresAt, clock());
    const made = make({ name, person, expiresAt, policy: policy && JSON.stringify(policy), createdBy });
    await store.keys.insert(made.stored, describeAction?.(made.fresh.record));
    return made.fresh;
  }

  /** `replaced`: the predecessor; left out: the key is the first of its client. */
  function make(
    like: Pick<KeyRecord, 'name' | 'person' | 'expiresAt' | 'policy' | 'createdBy'>,
    replaced?: KeyRecord,
  ) {
    const { id, secret, text } = generateKey();
    const { name, person, expiresAt, policy, createdBy } = like;
    const origin = { clientId: replaced?.clientId ?? id, replaces: replaced?.id ?? null };
    const dates = { createdAt: clock(), createdBy, expiresAt, revokedAt: null, lastUsedAt: null };
    const record: KeyRecord = { id, ...origin, name, person, policy, ...dates, version: 1 };
    const fresh: NewKey = { key: text, record };
    return { fresh, stored: { ...record, secretHash: hashSecretOf(secret, hashKey) } };
  }

  async function update(
    id: string,
    version: number,
    { name, expiresAt, policy }: KeyChange,
    auditBatch?: AuditBatch,
  ) {
    if (name !== undefined) checkName(name);
    if (expiresAt !== undefined) checkExpiry(expiresAt, clock());
    const changes = {
      ...(name === undefined ? null : { name }),
      ...(expiresAt === undefined ? null : { expiresAt }),
      ...(policy === undefined ? null : { policy: policy && JSON.stringify(policy) }),
    };
    return changeAndForget(id, () => store.keys.update(id, version, changes, auditBatch));
  }

  /** Drops the cached key, even after a failure: the outcome may be unknown. */
  async function changeAndForget<Result>(id: string, change: () => Promise<Result>): Promise<Result> {
    try {
      return await change();
    } finally {
      cache.forget(id);
    }
  }

  async function find(id: string): Promise<KeyRecord | null> {
    const stored = await store.keys.findById(id);
    return stored && toRecord(stored);
  }

  function revoke(id: string, auditBatch?: AuditBatch): Promise<boolean> {
    return changeAndForget(id, () => store.keys.revoke(id, clock(), auditBatch));
  }

  /** The store refuses a change if the version is no longer the one read, and refuses a second successor. */
  async function rotate(
    id: string,
    { overlapMs, version, createdBy = null }: Rotation,
    describeAction?: DescribeRotation,
  ) {
    const old = await find(id);
    const now = clock();
    if (old === null || old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= now))
      return 'missing';
    if (version !== undefined && version !== old.version) return 'conflict';
    const expiresAt = Math.min(now + overlapMs, old.expiresAt ?? Infinity);
    const { fresh, stored } = make({ ...old, createdBy }, old);
    const auditBatch = describeAction?.({ before: old, after: { ...old, expiresAt } }, fresh.record);
    const outcome = await changeAndForget(id, () =>
      store.keys.rotate(id, old.version, { now, expiresAt, successor: stored }, auditBatch),
    );
    return outcome === 'done' ? fresh : outcome;
  }

  return {
    authenticate,
    renew: ({ key }) => findClient(key.id),
    findClient,
    create,
    find,
    list: async (query) => store.keys.list(query),
    listNames: async (ids) => store.keys.listNames(ids),
    isEmpty: async () => store.keys.isEmpty(),
    update,
    revoke,
    rotate,
    deriveSecret: (purpose) => new Uint8Array(hkdfSync('sha256', hashKey, '', `erp-proxy ${purpose}`, 32)),
    flush: lastUsed.flush,
    close() {
      cache.close();
      return lastUsed.close();
    },
  };
}

/** `before`: the earlier cache entry. If the secret is the same, its valid text stays valid. */
function toKnownKey(stored: StoredKey, before: KnownKey | undefined): KnownKey {
  const { secretHash } = stored;
  const policy = readStoredPolicy(stored);
  const isSame = before !== undefined && timingSafeEqual(before.secretHash, secretHash);
  return {
    client: { key: toRecord(stored), policy: policy && compilePolicy(policy) },
    secretHash,
    textHash: isSame ? before.textHash : null,
  };
}

function toRecord({ secretHash: _, ...record }: StoredKey): KeyRecord {
  return record;
}

async function openHashKey(store: KeyStore, setting: string | undefined): Promise<KeyObject> {
  if (setting === undefined) return createSecretKey(await store.getOrCreateHashSecret(randomBytes(32)));
  if (setting.length < HASH_SECRET_LENGTH_MIN) {
    throw new RangeError(
      `keys.hashSecret is too short: give at least ${HASH_SECRET_LENGTH_MIN} random characters, or leave it out.`,
    );
  }
  return createSecretKey(setting, 'utf8');
}

/** In hexadecimal, because Node returns a digest as a string in half the time of a Buffer. */
function hashText(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'), 'latin1');
}

function hashSecretOf(secret: string, hashKey: KeyObject): Uint8Array {
  return createHmac('sha256', hashKey).update(secret).digest();
}

function checkName(name: string): void {
  if (!isKeyName(name))
    throw new KeyInputError(`The name of a key is ${KEY_NAME_RULE}; say who will use it.`);
}

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    throw new KeyInputError(
      'The time at which the key expires is not in the future: give a later time, or none for a key that does not expire.',
    );
  }
}

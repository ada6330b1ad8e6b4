/**
 * Personal tokens of operators: creates and revokes them, and authenticates the tokens that requests to the admin API
 * bring. Each request reads the store, so that a revoked token stops working at once on every replica. Knows neither
 * HTTP nor what a role may do.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { arePatterns, includesRole, intersectPatterns, type Role, tryParse } from '@erp-proxy/contract';
import type { AuditBatch, OperatorToken, OperatorTokenStore } from '@erp-proxy/stores/ports';
import { generateKey, parseKey, TOKEN_PREFIX } from './format.ts';
import { createLastUsed } from './last-used.ts';

/** Hash in place of that of an unknown id, so that its comparison takes as long as with a wrong secret. */
const NO_HASH = new Uint8Array(32);

export interface RefusedToken {
  readonly refused: 'unknown' | 'expired' | 'revoked' | TokenBar;
}

/**
 * Why a token does not work although nobody has revoked it: its person is denied, has no role any more, or has not
 * signed in for too long.
 */
export type TokenBar = 'denied' | 'no_role' | 'unconfirmed';

/** What the person who has created a token may do now; null: the creator is no person, and does not limit the token. */
export type TokenLimit =
  | { readonly role: Role; readonly instances: readonly string[] | null }
  | { readonly bar: TokenBar }
  | null;

export interface NewOperatorToken {
  /** The text to send. It is not stored anywhere. */
  readonly text: string;
  readonly record: OperatorToken;
}

/** The patterns of the instances that a token is limited to; null: all. A damaged text gives none. */
export function readTokenInstances({ instances }: Pick<OperatorToken, 'instances'>): string[] | null {
  if (instances === null) return null;
  const patterns = tryParse(instances);
  return arePatterns(patterns) ? patterns : [];
}

export interface OperatorTokens {
  /**
   * Returns the token, with at most the role and the instances of the person who has created it. Rejects if the store
   * fails: a token that cannot be looked up is not accepted.
   */
  authenticate(text: string): Promise<OperatorToken | RefusedToken>;
  create(
    token: Pick<OperatorToken, 'name' | 'role' | 'instances' | 'expiresAt' | 'createdBy'>,
    describeAction: (record: OperatorToken) => AuditBatch,
  ): Promise<NewOperatorToken>;
  find(id: string): Promise<OperatorToken | null>;
  list: OperatorTokenStore['list'];
  /** False if there is no such token, or it is revoked already. */
  revoke(id: string, auditBatch: AuditBatch): Promise<boolean>;
  /** Completes background writes. The store stays open. */
  close(): Promise<void>;
}

export interface OperatorTokensOptions {
  store: OperatorTokenStore;
  /** Rejects if the store fails. */
  findLimit: (token: OperatorToken) => Promise<TokenLimit>;
  /** The secret with which tokens are hashed. */
  secret: Uint8Array;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with errors of background writes. */
  onError: (error: unknown) => void;
}

export function createOperatorTokens({
  store,
  findLimit,
  secret,
  clock,
  onError,
}: OperatorTokensOptions): OperatorTokens {
  const hashKey = createSecretKey(secret);
  const hashSecret = (text: string) => new Uint8Array(createHmac('sha256', hashKey).update(text).digest());
  const lastUsed = createLastUsed(store, onError);

  return {
    async authenticate(text) {
      const parts = parseKey(text, TOKEN_PREFIX);
      if (parts === null) return { refused: 'unknown' };
      const found = await store.findById(parts.id);
      const matches = timingSafeEqual(hashSecret(parts.secret), found?.secretHash ?? NO_HASH);
      if (found === null || !matches) return { refused: 'unknown' };
      const now = clock();
      if (found.revokedAt !== null) return { refused: 'revoked' };
      if (found.expiresAt !== null && now >= found.expiresAt) return { refused: 'expired' };
      const limit = await findLimit(found);
      if (limit !== null && 'bar' in limit) return { refused: limit.bar };
      lastUsed.record(found, now);
      return limit === null ? found : limitToken(found, limit);
    },

    async create(given, describeAction) {
      const { id, secret, text } = generateKey(TOKEN_PREFIX);
      const record: OperatorToken = { id, ...given, createdAt: clock(), revokedAt: null, lastUsedAt: null };
      await store.insert({ ...record, secretHash: hashSecret(secret) }, describeAction(record));
      return { text, record };
    },

    async find(id) {
      const found = await store.findById(id);
      if (found === null) return null;
      const { secretHash: _, ...record } = found;
      return record;
    },

    list: (after, limit) => store.list(after, limit),
    revoke: (id, auditBatch) => store.revoke(id, clock(), auditBatch),
    close: lastUsed.close,
  };
}

function limitToken(
  token: OperatorToken,
  { role, instances }: Exclude<TokenLimit, null | { bar: TokenBar }>,
): OperatorToken {
  const both = intersectPatterns(readTokenInstances(token), instances);
  return {
    ...token,
    role: includesRole(role, token.role) ? token.role : role,
    instances: both && JSON.stringify(both),
  };
}

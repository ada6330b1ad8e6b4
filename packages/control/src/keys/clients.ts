/**
 * Authenticates a request by a client key, or by a token of an identity provider (tokens/). Both give the same kind of
 * client, so later steps need not know which one was sent.
 */
import type { Client, RefusedKey } from './keys.ts';

export interface Clients {
  /** Rejects if the store fails. */
  authenticate(text: string | undefined): Promise<Client | Refusal>;
  /** The current state of the client, for a long request. Returns the same object if nothing has changed. */
  renew(client: Client): Promise<Client | Refusal>;
}

export type Refusal = RefusedKey | RefusedToken;

export interface RefusedToken {
  readonly refused: 'token';
  /** `keys_away`: the keys of the issuer cannot be read, so the token cannot be checked. */
  readonly why: 'invalid' | 'expired' | 'revoked' | 'no_policy' | 'insufficient_scope' | 'keys_away';
  /** Id of the client; null unless the signature is valid. */
  readonly keyId: string | null;
  /** Reason for the operator's log. */
  readonly detail: string;
  /** With `insufficient_scope`: all scopes that a token needs. */
  readonly scopes: readonly string[];
}

/** The client of calls that the proxy makes for itself, such as those of subscriptions without a key. */
export const PROXY_CLIENT: Client = {
  key: {
    id: 'proxy',
    clientId: 'proxy',
    name: 'proxy',
    person: null,
    policy: null,
    createdAt: 0,
    createdBy: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replaces: null,
    version: 1,
  },
  policy: null,
};

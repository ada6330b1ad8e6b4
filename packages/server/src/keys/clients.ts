/**
 * What a request is authenticated by: a client key, or a token of an identity provider (tokens/). Both give the same
 * kind of client, so that no later step needs to know which one was sent.
 */
import type { Client, RefusedKey } from './keys.ts';

export interface Clients {
  /** Rejects if the store fails. */
  authenticate(text: string | undefined): Promise<Client | Refusal>;
  /** The current state of the client, for a long request. The same object if nothing has changed. */
  renew(client: Client): Promise<Client | Refusal>;
}

export type Refusal = RefusedKey | RefusedToken;

export interface RefusedToken {
  readonly refused: 'token';
  /** `keys_away`: the keys of its issuer cannot be read, so that nothing is known about the token. */
  readonly why: 'invalid' | 'expired' | 'revoked' | 'no_policy' | 'insufficient_scope' | 'keys_away';
  /** Id of the client; null unless the signature is valid. */
  readonly keyId: string | null;
  /** For the operator's log. */
  readonly detail: string;
  /** With `insufficient_scope`: the scopes that a token needs. */
  readonly scopes: readonly string[];
}

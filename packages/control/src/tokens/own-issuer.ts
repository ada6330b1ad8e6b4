/**
 * The proxy as an issuer of tokens for applications. A token names its provider, who has signed the person in, and the
 * consent by which it was issued. Its policy follows from the rules of the provider and the claims of the consent.
 * Pure.
 */
import type { Claims, Issuer } from './issuer.ts';

/** What tokens need of a consent. */
export interface OwnConsent {
  readonly id: string;
  /** `<provider>/<subject>` */
  readonly person: string;
  /** What the provider has said about the person. */
  readonly claims: Claims;
  /** When the provider has said so. Milliseconds since 1970. */
  readonly confirmedAt: number;
}

export interface OwnIssuer {
  /** The claim `iss` of its tokens. */
  readonly url: string;
  /** By the claim `provider`. */
  readonly issuers: ReadonlyMap<string, Issuer>;
  /** Its public keys, as a JSON Web Key Set (RFC 7517). Rejects if the store fails. */
  readonly publishKeys: () => Promise<{ keys: unknown[] }>;
  /** Null: the consent has ended. Rejects if the store fails and the answer is not cached. */
  readonly findConsent: (id: string) => Promise<OwnConsent | null>;
}

/** The claims of a token of the proxy, beside those of every token. */
export interface OwnClaims {
  readonly provider: string;
  readonly consent: string;
}

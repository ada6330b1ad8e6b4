/** Where a connection leads, who decides whether it may, and what connections share. */
import type { SecureContext } from 'node:tls';
import type { Dialer } from './dialer.ts';

/** Decides to which addresses a destination's connections may be made. */
export interface Guard {
  /** All addresses of the destination. Rejects, or gives none, if there is none. */
  findAddresses(): readonly string[] | Promise<readonly string[]>;
  /**
   * Null if bytes may be sent to this address. Called for each address before any of them is dialled: if one is
   * refused, all are. If there were several, called once more for the address that was reached.
   */
  check(address: string): Refusal | null;
}

export interface Refusal {
  /** For the operator's log only. */
  readonly detail: string;
}

export interface Destination {
  readonly dialer: Dialer;
  readonly guard: Guard;
  readonly target: {
    readonly secure: boolean;
    /** In lower case, without brackets. */
    readonly host: string;
    readonly port: number;
    /** The host is an address, not a name. */
    readonly isLiteral: boolean;
  };
  /** Called at the first https connection, since reading the certificates takes some time. Throws if it cannot. */
  readonly secureContext: () => SecureContext;
  /** The last TLS session, to be resumed. Only the connections use it. */
  session: Buffer | null;
}

/** Who makes a request to the admin API, and how that is recorded. */

import type { Identity } from '@erp-proxy/admin';
import type { ActorView, Role } from '@erp-proxy/contract';

/** Who makes a request, and until when they are accepted without another proof. */
export interface Authenticated extends Identity {
  /** Milliseconds since 1970; null: not known, or not by itself. */
  readonly expiresAt: number | null;
  /** Roles of further rules that match a person: the first rule decided. Left out: none. */
  readonly otherRoles?: readonly Role[];
}

/** A person who signed in by the identity provider. `role` null: without the right to administer anything. */
export type SignedIn = Omit<Authenticated, 'role'> & { readonly role: Role | null };

/** A login, as recorded in the audit. */
export interface Login {
  actor: ActorView;
  address: string;
  requestId: string;
  action:
    | 'login.token'
    | 'login.session'
    | 'login.person'
    | 'logout.session'
    | 'login.refused'
    | 'operation.refused';
  /** How the request was authenticated; for `operation.refused`, the name of the operation. */
  way: LoginWay | (string & {});
  /** What a person may do. Left out: the role is that of a token or of `admin.token`. */
  grant?: Pick<Authenticated, 'role' | 'instances' | 'otherRoles'>;
  isRefused: boolean;
}

export type LoginWay = 'token' | 'link' | 'session' | 'provider';

/** Who makes a request to the admin API, and how that is recorded. */
import type { ActorView, Role } from '@erp-proxy/contract';
import type { Identity } from '../../admin/admin.ts';

/** Who makes a request, and until when they are accepted without another proof. */
export interface Authenticated extends Identity {
  /** Milliseconds since 1970; null: not known, or not by itself. */
  readonly expiresAt: number | null;
}

/** A person who signed in by the identity provider. `role` null: without the right to administer anything. */
export type SignedIn = Omit<Authenticated, 'role'> & { readonly role: Role | null };

/** A login, as recorded in the audit. */
export interface Login {
  actor: ActorView;
  address: string;
  requestId: string;
  action: 'login.token' | 'login.session' | 'login.person' | 'logout.session' | 'login.refused';
  /** How the request was authenticated. */
  way: LoginWay;
  isRefused: boolean;
}

export type LoginWay = 'token' | 'link' | 'session' | 'provider';

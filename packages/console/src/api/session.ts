/**
 * The session of the administrator, and the requests that wait for a new one. `renewSession` opens the sign-in form
 * above the page, and resolves when the person has signed in. Knows no component.
 */
import {
  includesRole,
  type Problem,
  type Role,
  type SessionView,
  type SignInView,
} from '@erp-proxy/contract';
import { ROOT } from './root.ts';

export type SessionState =
  /** The session was not checked yet. */
  | { state: 'unknown' }
  | { state: 'open' }
  /** Nobody has signed in since the page was opened. */
  | { state: 'closed' }
  /** The session ended while the page was in use; requests wait. */
  | { state: 'ended' }
  /** Who is signed in has no role. `reason` says so. */
  | { state: 'no_role'; reason: string }
  /** Nobody can sign in: `reason` says why. */
  | { state: 'unavailable'; reason: string };

const SESSION_URL = `${ROOT}admin/v1/session`;

let current: SessionState = { state: 'unknown' };
let holder: SessionView | null = null;
let waiting: PromiseWithResolvers<void> | null = null;
const listeners = new Set<() => void>();

export function readSession(): SessionState {
  return current;
}

/** Who is signed in, as the proxy last said; null before that. */
export function readHolder(): SessionView | null {
  return holder;
}

/** True if the role of who is signed in includes this role. */
export function mayAs(role: Role): boolean {
  return holder === null || includesRole(holder.role, role);
}

/** True if who is signed in may use the whole proxy, not only some of the instances. */
export function mayAll(): boolean {
  return holder === null || holder.instances === null;
}

/** Calls `listener` after each change. Returns a function that stops this. */
export function watchSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks the proxy whether there is a session. */
export async function checkSession(): Promise<void> {
  let response: Response;
  try {
    response = await fetch(SESSION_URL);
  } catch {
    return change({ state: 'unavailable', reason: 'The proxy does not answer. Is it running?' });
  }
  if (response.ok) await open(response);
  else if (response.status === 401) change({ state: 'closed' });
  else if (response.status === 403) change({ state: 'no_role', reason: await readDetail(response) });
  else change({ state: 'unavailable', reason: await readDetail(response) });
}

/** Sends the waiting requests if there is a session again, because the person has signed in on another page. */
export async function resumeSession(): Promise<void> {
  const response = await fetch(SESSION_URL).catch(() => null);
  if (response?.ok) await open(response);
}

/** Returns how a session can be started. */
export async function fetchWays(): Promise<SignInView> {
  const response = await fetch(`${SESSION_URL}/ways`);
  if (!response.ok) throw new Error(await readDetail(response));
  return (await response.json()) as SignInView;
}

/** The address at which a browser signs in by the identity provider. It then comes back to this page. */
export function locateSignIn({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string {
  const path = pathname.startsWith(ROOT) ? pathname.slice(ROOT.length - 1) : '/';
  const returnTo = path === '/sign-in' ? '/' : path + search;
  return `${SESSION_URL}/start?${new URLSearchParams({ return_to: returnTo })}`;
}

/** Rejects with an Error whose message is shown to the person. */
export async function signIn(credentials: { token: string } | { code: string }): Promise<void> {
  const response = await fetch(SESSION_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  if (!response.ok) throw new Error(await readDetail(response));
  await open(response);
}

async function open(response: Response): Promise<void> {
  holder = (await response.json()) as SessionView;
  waiting?.resolve();
  waiting = null;
  change({ state: 'open' });
}

export async function signOut(): Promise<void> {
  await fetch(SESSION_URL, { method: 'DELETE' });
  change({ state: 'closed' });
}

/** Resolves when somebody has signed in again. Rejects if the signal is aborted first. */
export function renewSession(signal?: AbortSignal): Promise<void> {
  if (current.state === 'open') change({ state: 'ended' });
  waiting ??= Promise.withResolvers<void>();
  const { promise } = waiting;
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  return Promise.race([
    promise,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
}

function change(state: SessionState): void {
  current = state;
  for (const listener of listeners) listener();
}

async function readDetail(response: Response): Promise<string> {
  try {
    return ((await response.json()) as Problem).detail;
  } catch {
    return `The proxy answered with status ${response.status}.`;
  }
}

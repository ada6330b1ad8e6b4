/**
 * Checks a call again after it has waited: for its permit, for the store, or for the answer to another call. Its key,
 * policy or instance may have changed in the meantime. A call that must not be sent as it was built starts over
 * (run-call.ts), and is then refused or built again.
 */

import type { Connection } from '@erp-proxy/control/connections';
import type { Instance } from '@erp-proxy/control/instances';
import { type Client, type Clients, PROXY_CLIENT } from '@erp-proxy/control/keys';
import { askStore } from '../terms/ask-store.ts';
import { denyClient, UNREADABLE_POLICY } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { Request } from '../terms/request.ts';
import type { NamedInstance, Target } from '../terms/target.ts';
import { authorizeCaller } from './authorize.ts';
import { type ResolveDeps, resolveTarget } from './resolve.ts';

/** What a call was built from. */
export interface Built {
  client: Client;
  /** True if the call would be the same for this client. */
  isSameFor(client: Client): Promise<boolean>;
  /** The server as the call names it, and as it was resolved; null for a call that names no database. */
  resolved: { named: NamedInstance; target: Target } | null;
}

export type CheckDeps = RenewDeps & ResolveDeps;

/** True if the call may be sent as it was built. */
export async function isUnchanged(built: Built, request: Request, deps: CheckDeps): Promise<boolean> {
  const now = await renewClient(built.client, deps, request.dialect);
  if (now instanceof Denial || !(await isSameClient(now, built, request))) return false;
  return await isTargetUnchanged(built, now, deps);
}

/** Policies are compared as text, since a row is also read again if nothing has changed. */
async function isSameClient(
  now: Client,
  { client, isSameFor }: Built,
  { exchange }: Request,
): Promise<boolean> {
  if (now === client || now.key.policy === client.key.policy) return true;
  return authorizeCaller(now, exchange) === null && (await isSameFor(now));
}

async function isTargetUnchanged({ resolved }: Built, client: Client, deps: CheckDeps): Promise<boolean> {
  const instance = resolved?.target.instance ?? null;
  if (resolved === null || instance === null) return true;
  const { connection } = resolved.target;
  const isSame = (await askStore(() => deps.instances.find(instance.name))) === instance;
  if (isSame && (connection === null || (await isSameConnection(connection, instance, client, deps))))
    return true;
  const now = await resolveTarget(resolved.named, client, deps);
  return !(now instanceof Denial) && isSameTarget(now, resolved.target);
}

async function isSameConnection(
  connection: Connection,
  instance: Instance,
  { key: { person } }: Client,
  { connections }: CheckDeps,
): Promise<boolean> {
  if (person !== connection.person) return false;
  return (await askStore(() => connections.find(person, instance))) === connection;
}

/** True if two versions of a call are equal in everything that a policy can set. */
export function isSameCall<AnyCall extends object>(one: AnyCall | Denial, other: AnyCall): boolean {
  if (one === other) return true;
  if (one instanceof Denial) return false;
  const [a, b]: SettableByPolicy[] = [one, other];
  if (a?.approvalRule !== b?.approvalRule) return false;
  if (a?.limit !== b?.limit || a?.bytes === undefined || b?.bytes === undefined) return false;
  return a.bytes === b.bytes || Buffer.compare(a.bytes, b.bytes) === 0;
}

interface SettableByPolicy {
  bytes?: Uint8Array;
  limit?: unknown;
  approvalRule?: unknown;
}

/** The identifier of the credentials covers server, database, user, key and person. */
function isSameTarget(one: Target, other: Target): boolean {
  return (
    one.credentialsId === other.credentialsId &&
    one.instance?.id === other.instance?.id &&
    one.instance?.protocol === other.instance?.protocol
  );
}

interface RenewDeps {
  clients: Clients;
}

/**
 * Reads the client again before each of its calls and after each wait, because the key may have changed, or the token
 * expired, while the body arrived, or while other calls of the batch ran. Returns the same object if nothing has
 * changed.
 */
export async function renewClient(
  client: Client,
  { clients }: RenewDeps,
  dialect: Dialect,
): Promise<Client | Denial> {
  // The proxy itself is no stored client.
  if (client === PROXY_CLIENT) return client;
  const renewed = await askStore(() => clients.renew(client), UNREADABLE_POLICY);
  if (renewed instanceof Denial || !('refused' in renewed)) return renewed;
  return denyClient(renewed, dialect, 'meanwhile');
}

/**
 * Judges a call again after it has waited: for its turn, for the store, for another call's answer. Its key, its policy or its
 * instance may have changed meanwhile. A call that must not be sent as it was made starts over (execute/run-request.ts): it is
 * then refused, or made as it must be now.
 */
import type { Client } from '../../keys/keys.ts';
import { authorizeCaller } from '../call/authorize.ts';
import type { Call } from '../call/parse.ts';
import { type ResolveDeps, resolveTarget, type Target } from '../call/resolve.ts';
import { renewClient } from '../request/authenticate.ts';
import type { CallScope, RequestDeps, Run } from '../run-request.ts';
import { askStore } from '../terms/ask-store.ts';
import { Denial } from '../terms/denial.ts';

/** What a call was made of. */
export interface Made {
  /** What the call names as its server. */
  named: Call['instance'];
  target: Target;
  /** Whether the call would be the same for this client. */
  isSameFor(client: Client): boolean;
}

/** Whether the call may still be sent as it was made. Costs next to nothing while nothing has changed. */
export async function isUnchanged<Deps extends RequestDeps & ResolveDeps>(
  { named, target, isSameFor }: Made,
  { client }: CallScope,
  run: Run<Deps>,
): Promise<boolean> {
  if (!(await isClientUnchanged(client, isSameFor, run))) return false;
  const { instance } = target;
  if (instance === null) return true;
  if ((await askStore(() => run.deps.instances.find(instance.name))) === instance) return true;
  const now = await resolveTarget(named, run.deps);
  return !(now instanceof Denial) && isSameTarget(now, target);
}

/** The part of it that concerns the key. Policies are compared as text: a row is read again also where nothing changed. */
export async function isClientUnchanged(
  client: Client,
  isSameFor: (client: Client) => boolean,
  { exchange, deps, dialect }: Run<RequestDeps>,
): Promise<boolean> {
  const now = await renewClient(client, deps, dialect);
  if (now instanceof Denial) return false;
  if (now === client || now.key.policy === client.key.policy) return true;
  return authorizeCaller(now, exchange) === null && isSameFor(now);
}

/** Whether two versions of a call are the same in what a policy can set. */
export function isSameCall(
  one: { bytes: Uint8Array; limit?: unknown } | Denial,
  other: { bytes: Uint8Array; limit?: unknown },
): boolean {
  if (one === other) return true;
  if (one instanceof Denial || one.limit !== other.limit) return false;
  return one.bytes === other.bytes || Buffer.compare(one.bytes, other.bytes) === 0;
}

/** The name of the credentials tells server, database, user and key apart. */
function isSameTarget(one: Target, other: Target): boolean {
  return (
    one.credentialsId === other.credentialsId &&
    one.instance?.id === other.instance?.id &&
    one.instance?.protocol === other.instance?.protocol
  );
}

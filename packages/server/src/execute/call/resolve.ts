/**
 * Step: finds the server of a call by its address or instance name. Refuses addresses that the operator does not allow.
 */

import { hash } from 'node:crypto';
import type { EgressDispatcher, EgressTrust } from '@erp-proxy/egress';
import type { Instance, Instances } from '../../instances/instances.ts';
import { VaultError } from '../../instances/vault.ts';
import { askStore } from '../terms/ask-store.ts';
import { Denial } from '../terms/denial.ts';
import type { InstanceAddress, NamedInstance, ServerAddress, Target } from '../terms/target.ts';
import { denyEgress } from '../terms/upstream-denials.ts';
import { readBaseUrl } from './read-members.ts';

export interface ResolveDeps {
  egress: EgressDispatcher;
  instances: Instances;
  nameCredentials: NameCredentials;
}

export async function resolveTarget(named: NamedInstance, deps: ResolveDeps): Promise<Target | Denial> {
  if (!('name' in named)) return buildTarget(named, null, deps);
  const instance = await askStore(() => deps.instances.find(named.name), UNUSABLE_KEY);
  if (instance instanceof Denial) return instance;
  if (instance === null) return denyUnknownInstance();
  return buildTarget(instance, instance, deps);
}

/** Also the answer for an instance that exists, to an administrator who is limited to others. */
export function denyUnknownInstance(): Denial {
  return new Denial(
    'invalid_request',
    'The proxy has no instance of this name. Correct it, or send {"url", "db", "user_id", "api_key"} instead.',
    { path: 'erp_instance.name' },
  );
}

const UNUSABLE_KEY = { ErrorClass: VaultError, message: 'The proxy cannot use the key of this instance' };

function buildTarget(
  { url, db, userId, apiKey }: InstanceAddress,
  instance: Instance | null,
  { egress, nameCredentials }: ResolveDeps,
): Target | Denial {
  const trust = instance?.trust ?? null;
  const address = resolveServer(url, egress, trust);
  if (address instanceof Denial) return address;
  const { origin, pathPrefix } = address;
  const credentialsId = nameCredentials({ origin, pathPrefix, db, userId, apiKey, trust });
  return { origin, pathPrefix, db, userId, apiKey, trust, instance, credentialsId };
}

/** Finds the server and database of a refused call, for its record; null if they are not known. */
export async function nameTarget(
  named: NamedInstance,
  { instances }: Pick<ResolveDeps, 'instances'>,
): Promise<(ServerAddress & { db: string }) | null> {
  const stored = 'name' in named ? await findQuietly(named.name, instances) : named;
  const address = stored && readBaseUrl(stored.url);
  return stored === null || address === null || address instanceof Denial
    ? null
    : { ...address, db: stored.db };
}

async function findQuietly(name: string, instances: Instances): Promise<Instance | null> {
  try {
    return await instances.find(name);
  } catch {
    return null;
  }
}

/** The same for a version question, which names no database. */
export function resolveServer(
  url: string,
  egress: EgressDispatcher,
  trust: EgressTrust | null = null,
): ServerAddress | Denial {
  const address = readBaseUrl(url);
  if (address instanceof Denial) return address;
  const denied = egress.check(address.origin, trust);
  return denied === null ? address : denyEgress(denied.detail);
}

/** The credentials of a call, and the server that they are for. */
export interface Credentials {
  origin: string;
  pathPrefix: string;
  db: string;
  userId: number;
  apiKey: string;
  /** Certificates and address rules for the connection; null if the general ones apply. */
  trust: { id: string } | null;
}

/** Equal credentials get equal identifiers on all replicas. */
type NameCredentials = (credentials: Credentials) => string;

/** Creates identifiers of credentials that do not contain them: a hash, salted with a secret of the deployment. */
export function createCredentialNames(secret: Uint8Array): NameCredentials {
  const salt = Buffer.from(secret).toString('base64');
  return ({ origin, pathPrefix, db, userId, apiKey, trust }) => {
    const named = [origin, pathPrefix, db, userId, apiKey, trust?.id];
    // A salt in front is enough, because a text extended by a length extension attack would not be JSON.
    return hash('sha256', salt + JSON.stringify(named), 'base64');
  };
}

/**
 * Step: finds the server of a call by its address or instance name. Refuses addresses that the operator does not allow.
 */

import { hash } from 'node:crypto';
import type { Connections } from '@erp-proxy/control/connections';
import { type Instance, type Instances, VaultError } from '@erp-proxy/control/instances';
import type { Client } from '@erp-proxy/control/keys';
import type { EgressDispatcher, EgressTrust } from '@erp-proxy/egress';
import { askStore } from '../terms/ask-store.ts';
import { Denial } from '../terms/denial.ts';
import type { InstanceAddress, NamedInstance, ServerAddress, Target } from '../terms/target.ts';
import { denyEgress } from '../terms/upstream-denials.ts';
import { readBaseUrl } from './read-members.ts';

export interface ResolveDeps {
  egress: EgressDispatcher;
  instances: Instances;
  connections: Pick<Connections, 'find'>;
  nameCredentials: NameCredentials;
  /** Address of the page on which a person connects to an instance; null if the proxy does not know its own. */
  findConnectUrl: (instance: string) => string | null;
}

/** The client decides whose user in Odoo runs the call, if the instance leaves that to persons. */
export async function resolveTarget(
  named: NamedInstance,
  { key: { person } }: Pick<Client, 'key'>,
  deps: ResolveDeps,
): Promise<Target | Denial> {
  if (!('name' in named)) return buildTarget(named, NOT_STORED, deps);
  const instance = await askStore(() => deps.instances.find(named.name), UNUSABLE_KEY);
  if (instance instanceof Denial) return instance;
  if (instance === null) return denyUnknownInstance();
  const { url, db, userId, apiKey } = instance;
  if (userId !== null && apiKey !== null)
    return buildTarget({ url, db, userId, apiKey }, { instance, connection: null }, deps);
  if (person === null) return denyNobody(instance);
  const connection = await askStore(() => deps.connections.find(person, instance), UNUSABLE_CONNECTION);
  if (connection instanceof Denial) return connection;
  if (connection === null) return denyUnconnected(instance, deps);
  const { userId: ownId, apiKey: ownKey } = connection;
  return buildTarget({ url, db, userId: ownId, apiKey: ownKey }, { instance, connection }, deps);
}

/** The key is for nobody, so that no connection can belong to it. */
function denyNobody({ name }: Instance): Denial {
  return new Denial(
    'policy_denied',
    `Calls to ${name} run as the Odoo user of the person who calls, and this key is for no person. Send a token of the person, or a key made with \`keys create --for <issuer>/<subject>\`.`,
    { rule: 'instance.identity' },
  );
}

function denyUnconnected({ name }: Instance, { findConnectUrl }: ResolveDeps): Denial {
  const connectUrl = findConnectUrl(name);
  const where = connectUrl === null ? 'the page of the proxy for it' : connectUrl;
  return new Denial(
    'connect_required',
    `Calls to ${name} run as your own user in Odoo, and you have not connected one: open ${where}, sign in, and enter a key of yours. Then send the call again.`,
    { connectUrl },
  );
}

const UNUSABLE_CONNECTION = {
  ErrorClass: VaultError,
  message: 'The proxy cannot use the key of your connection',
};

/** Also the answer for an instance that exists, to an administrator who is limited to others. */
export function denyUnknownInstance(): Denial {
  return new Denial(
    'invalid_request',
    'The proxy has no instance of this name. Correct it, or send {"url", "db", "user_id", "api_key"} instead.',
    { path: 'erp_instance.name' },
  );
}

const UNUSABLE_KEY = { ErrorClass: VaultError, message: 'The proxy cannot use the key of this instance' };

const NOT_STORED = { instance: null, connection: null };

function buildTarget(
  { url, db, userId, apiKey }: InstanceAddress,
  { instance, connection }: Pick<Target, 'instance' | 'connection'>,
  { egress, nameCredentials }: ResolveDeps,
): Target | Denial {
  const trust = instance?.trust ?? null;
  const address = resolveServer(url, egress, trust);
  if (address instanceof Denial) return address;
  const { origin, pathPrefix } = address;
  const person = connection?.person ?? null;
  const credentialsId = nameCredentials({ origin, pathPrefix, db, userId, apiKey, trust, person });
  return { origin, pathPrefix, db, userId, apiKey, trust, instance, connection, credentialsId };
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
  /** The person to whom they belong; null: to nobody in particular. Persons share nothing, even one user of Odoo. */
  person: string | null;
}

/** Equal credentials get equal identifiers on all replicas. */
type NameCredentials = (credentials: Credentials) => string;

/** Creates identifiers of credentials that do not contain them: a hash, salted with a secret of the deployment. */
export function createCredentialNames(secret: Uint8Array): NameCredentials {
  const salt = Buffer.from(secret).toString('base64');
  return ({ origin, pathPrefix, db, userId, apiKey, trust, person }) => {
    const named = [origin, pathPrefix, db, userId, apiKey, trust?.id, ...(person === null ? [] : [person])];
    // A salt in front is enough, because a text extended by a length extension attack would not be JSON.
    return hash('sha256', salt + JSON.stringify(named), 'base64');
  };
}

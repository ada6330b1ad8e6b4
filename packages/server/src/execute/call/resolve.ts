/** Step: from what a call names to the server it runs on. Refuses addresses that the operator does not allow. */
import type { BaseUrl } from '../../egress/base-url.ts';
import type { EgressDispatcher, EgressTrust } from '../../egress/dispatcher.ts';
import type { Instance, Instances } from '../../instances/instances.ts';
import { VaultError } from '../../instances/vault.ts';
import { askStore } from '../terms/ask-store.ts';
import { Denial } from '../terms/denial.ts';
import { denyEgress } from '../upstream/upstream-denials.ts';
import { readBaseUrl } from './base-url.ts';
import type { NameCredentials } from './credentials-id.ts';
import type { Call, InstanceAddress } from './parse.ts';

/** A server's address. */
export type ServerAddress = BaseUrl;

/** The server, database and credentials of a call, judged as far as they can be without asking DNS. */
export interface Target extends ServerAddress {
  db: string;
  userId: number;
  apiKey: string;
  /** How the server is reached, where it has an instance's own certificates or allowance. */
  trust: EgressTrust | null;
  /** Null where the call brought address and credentials itself. */
  instance: Instance | null;
  /** Name of the credentials, for what is remembered about them. */
  credentialsId: string;
}

export interface ResolveDeps {
  egress: EgressDispatcher;
  instances: Instances;
  nameCredentials: NameCredentials;
}

export async function resolveTarget(named: Call['instance'], deps: ResolveDeps): Promise<Target | Denial> {
  if (!('name' in named)) return aim(named, null, deps);
  const instance = await askStore(() => deps.instances.find(named.name), {
    Fault: VaultError,
    message: 'The proxy cannot use the key of this instance',
  });
  if (instance instanceof Denial) return instance;
  if (instance === null) {
    return new Denial(
      'invalid_request',
      'The proxy has no instance of this name. Correct it, or send {"url", "db", "user_id", "api_key"} instead.',
      { path: 'erp_instance.name' },
    );
  }
  return aim(instance, instance, deps);
}

function aim(
  { url, db, userId, apiKey }: InstanceAddress,
  instance: Instance | null,
  { egress, nameCredentials }: ResolveDeps,
): Target | Denial {
  const trust = instance?.trust ?? null;
  const address = resolveServer(url, egress, trust);
  if (address instanceof Denial) return address;
  const credentials = { ...address, db, userId, apiKey, trust };
  return { ...credentials, instance, credentialsId: nameCredentials(credentials) };
}

/** The server and database of a call that is refused anyway, for its record; null where they are not known. */
export async function nameTarget(
  named: Call['instance'],
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

/** The same for a question that needs no database. */
export function resolveServer(
  url: string,
  egress: EgressDispatcher,
  trust: EgressTrust | null = null,
): ServerAddress | Denial {
  const address = readBaseUrl(url);
  if (address instanceof Denial) return address;
  const denied = egress.judge(address.origin, trust);
  return denied === null ? address : denyEgress(denied.detail);
}

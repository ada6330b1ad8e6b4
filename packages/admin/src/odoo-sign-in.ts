/**
 * Signs a person in by their login and key of Odoo, for firms without an identity provider. The person is the user of
 * the instance, and is connected to it at once. Texts are for the person.
 */
import type { Connections } from '@erp-proxy/control/connections';
import { groupAddress } from '@erp-proxy/control/keys';
import { nameOdooProvider } from '@erp-proxy/control/tokens/issuers';
import { AdminError } from './admin-error.ts';
import { type AuditedActor, createActionDescriber } from './audited-actions.ts';
import { acceptLogin, type OwnConnectionDeps, storeConnection } from './own-connections.ts';
import { toAdminError } from './to-admin-error.ts';

export interface OdooPerson {
  /** `odoo:<instance>/<id of the user>` */
  readonly id: string;
  readonly name: string;
  /** Name of the server (`Instance.serverId`). */
  readonly serverId: string;
}

const NO_INSTANCE = 'Nobody can sign in by this server. Tell the operator of the proxy.';

/** Returns the person, or why Odoo does not let them in. Rejects if the proxy itself fails. */
export function createOdooSignIn(deps: OwnConnectionDeps & { connections: Pick<Connections, 'put'> }) {
  return async (
    name: string,
    { login, apiKey }: { login: string; apiKey: string },
    sender: Pick<AuditedActor, 'address' | 'requestId'>,
  ): Promise<OdooPerson | string> => {
    try {
      const instance = await deps.instances.find(name);
      if (instance === null || instance.identity !== 'person') return NO_INSTANCE;
      const whose = `sign-in ${groupAddress(sender.address ?? '')}`;
      const accepted = await acceptLogin(deps, { instance, login, apiKey, whose });
      const person = {
        id: `${nameOdooProvider(instance.name)}/${accepted.userId}`,
        name: accepted.userName,
        serverId: instance.serverId,
      };
      const actor = { type: 'person' as const, id: person.id, name: person.name, ...sender };
      const describeAction = createActionDescriber(deps.audit, actor);
      await storeConnection(deps.connections, instance, { ...accepted, person: person.id }, describeAction);
      return person;
    } catch (error) {
      const known = toAdminError(error);
      if (known instanceof AdminError && known.problem.status < 500) return explain(known);
      throw known;
    }
  };
}

function explain({ problem }: AdminError): string {
  const faults = problem.faults?.map(({ path, message }) => `${NAMES[path] ?? path} ${message}`);
  return faults?.join(' ') ?? problem.detail ?? NO_INSTANCE;
}

const NAMES: Readonly<Record<string, string>> = { login: 'The login', api_key: 'The key' };

/** Finds what else has the key of an instance or of a person: its rotation would break that. */
import type { ConnectionRecord, Connections } from '../connections/index.ts';
import type { Instances } from '../instances/instances.ts';
import type { InstanceRecord, KeyState } from '../instances/views.ts';

const PAGE_SIZE = 100;

/** Name of an instance with this key, other than `own`; null if there is none. */
export async function findInstanceWith(
  { record, apiKey }: KeyState,
  instances: Pick<Instances, 'list' | 'openKey'>,
  own: string | null,
): Promise<string | null> {
  for (let after: string | null = null; ; ) {
    const page: InstanceRecord[] = await instances.list({ after, limit: PAGE_SIZE, search: record.url });
    for (const { name } of page)
      if (name !== own && (await instances.openKey(name))?.apiKey === apiKey) return name;
    if (page.length < PAGE_SIZE) return null;
    after = page.at(-1)?.name ?? null;
  }
}

/** Finds connections with the same key, during one check of all connections. */
export interface ConnectionSearch {
  /**
   * True if another connection has this key: of the same person, or to the same instance. Only connections with the
   * same user in Odoo are opened.
   */
  hasOther(own: ConnectionRecord, apiKey: string): Promise<boolean>;
}

/** Reads the connections of an instance once, however many of their keys are due. */
export function createConnectionSearch(
  connections: Pick<Connections, 'list' | 'openKeys'>,
): ConnectionSearch {
  const byInstance = new Map<string, Promise<Map<number, ConnectionRecord[]>>>();

  function findByUser(instance: string): Promise<Map<number, ConnectionRecord[]>> {
    const found = byInstance.get(instance) ?? groupByUser(connections, instance);
    byInstance.set(instance, found);
    return found;
  }

  return {
    async hasOther(own, apiKey) {
      const users = await findByUser(own.instance);
      const ofPerson = await listAll(connections, { person: own.person });
      for (const other of [...(users.get(own.userId) ?? []), ...ofPerson]) {
        const isOwn = other.instance === own.instance && other.person === own.person;
        if (isOwn || other.userId !== own.userId) continue;
        if ((await connections.openKeys(other))?.apiKey === apiKey) return true;
      }
      return false;
    },
  };
}

async function groupByUser(
  connections: Pick<Connections, 'list'>,
  instance: string,
): Promise<Map<number, ConnectionRecord[]>> {
  return Map.groupBy(await listAll(connections, { instance }), ({ userId }) => userId);
}

async function listAll(
  connections: Pick<Connections, 'list'>,
  filter: { instance: string } | { person: string },
): Promise<ConnectionRecord[]> {
  const all: ConnectionRecord[] = [];
  for (let after: ConnectionRecord | null = null; ; ) {
    const page: ConnectionRecord[] = await connections.list({ after, limit: PAGE_SIZE, ...filter });
    all.push(...page);
    if (page.length < PAGE_SIZE) return all;
    after = page.at(-1) ?? null;
  }
}

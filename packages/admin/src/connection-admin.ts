/** The operations of an administrator on the connections of persons. No answer has a key. */

import type { ConnectionRecord } from '@erp-proxy/control/connections';
import type { Instance } from '@erp-proxy/control/instances';
import { PERSON_ID } from '@erp-proxy/control/keys';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import { compareMembers, type DescribeAction, SECRET } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showConnection } from './views.ts';

type ConnectionAdmin = Pick<Admin, 'listConnections' | 'removeConnection'>;

const PLACE = z.tuple([z.string().regex(/^[\w.-]+$/), z.string().regex(PERSON_ID)]);

export function createConnectionAdmin(
  { connections, instances }: Pick<AdminDeps, 'connections' | 'instances'>,
  describeAction: DescribeAction,
): ConnectionAdmin {
  /** The instances as they are now, so that connections to the earlier server of one are shown as such. */
  async function findInstances(rows: readonly ConnectionRecord[]): Promise<Map<string, Instance | null>> {
    const found = new Map<string, Instance | null>();
    for (const { instance } of rows) {
      if (!found.has(instance)) found.set(instance, await instances.find(instance));
    }
    return found;
  }

  return {
    async listConnections({ instance, person, ...page }) {
      const shown = await readPage(page, {
        place: PLACE,
        placeOf: (row: ConnectionRecord): z.infer<typeof PLACE> => [row.instance, row.person],
        list: (place, limit) =>
          connections.list({
            after: place && { instance: place[0], person: place[1] },
            limit,
            instance,
            person,
          }),
        show: (row: ConnectionRecord) => row,
      });
      const found = await findInstances(shown.items);
      return {
        ...shown,
        items: shown.items.map((row) => ({
          person: row.person,
          ...showConnection(row, found.get(row.instance) ?? null),
          key_failure: row.keyFailure,
        })),
      };
    },

    async removeConnection(instance, person) {
      const connection = await connections.get(person, instance);
      const isRemoved =
        connection !== null &&
        (await connections.remove({ instance, person }, describeRemoval(connection, describeAction)));
      if (!isRemoved) throw explainMissing(instance, person);
    },
  };
}

/** The audit record of a removed connection. */
export function describeRemoval(connection: ConnectionRecord, describeAction: DescribeAction) {
  return describeAction(
    'connection.remove',
    nameConnection(connection),
    compareMembers({ ...listMembers(connection), api_key: SECRET }, {}),
    [connection.instance],
  );
}

export function nameConnection({ instance, person }: Pick<ConnectionRecord, 'instance' | 'person'>): string {
  return `connection ${instance} ${person}`;
}

/** The members that the audit compares. */
export function listMembers({ login, userId }: ConnectionRecord): object {
  return { login, user_id: userId };
}

function explainMissing(instance: string, person: string) {
  return createAdminError(404, `${JSON.stringify(person)} has no connection to ${JSON.stringify(instance)}.`);
}

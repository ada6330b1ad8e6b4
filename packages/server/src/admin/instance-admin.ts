/** What an administrator can do with stored instances. */
import type { InstanceChanges, InstanceView } from '@erp-proxy/contract';
import { z } from 'zod';
import type { InstanceRecord } from '../instances/instances.ts';
import { type Changes, compareMembers, type RecordAct } from './acts.ts';
import type { Admin, AdminDeps } from './admin.ts';
import { refuse } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { readPage } from './page.ts';
import { readTime, showTime } from './time.ts';
import { showInstance } from './views.ts';

type InstanceAdmin = Pick<
  Admin,
  | 'listInstances'
  | 'createInstance'
  | 'getInstance'
  | 'updateInstance'
  | 'removeInstance'
  | 'rotateInstanceKey'
  | 'resealVault'
>;

/** Stands in the audit where a key was: that it changed is told, and nothing of it. */
const SECRET = '(secret)';

export function createInstanceAdmin(deps: AdminDeps, recordAct: RecordAct): InstanceAdmin {
  const { instances, clock } = deps;
  const show = (instance: InstanceRecord) => showInstance(instance, clock());
  const members = (instance: InstanceRecord) => listMembers(show(instance));
  const record = (action: string, name: string, changes: Changes) =>
    recordAct(action, `instance ${name}`, changes);

  async function find(name: string): Promise<InstanceRecord> {
    const instance = await instances.get(name);
    if (instance === null) throw refuse(404, `There is no instance ${JSON.stringify(name)}.`);
    return instance;
  }

  return {
    listInstances({ search, ...page }) {
      return readPage(page, {
        place: z.string().regex(/^[\w.-]+$/),
        placeOf: ({ name }) => name,
        list: (after, limit) => instances.list({ after, limit, search }),
        show,
      });
    },

    async createInstance(input) {
      const made = await instances.add(input);
      if (made === null) {
        throw refuse(
          409,
          `There is an instance ${JSON.stringify(input.name)} already: change it, or take another name.`,
        );
      }
      const changes = compareMembers({}, { ...members(made), api_key: SECRET });
      await record('instance.create', made.name, changes);
      return show(made);
    },

    getInstance: async (name) => show(await find(name)),

    async updateInstance(name, given, version) {
      const hasNewKey = given.api_key !== undefined;
      const compare = (instance: InstanceRecord) =>
        compareMembers(members(instance), { ...members(instance), ...readGiven(given) });
      const before = await changeRow(
        () => find(name),
        version,
        async (instance) => {
          const isSame = !hasNewKey && Object.keys(compare(instance)).length === 0;
          return isSame ? 'done' : instances.update(name, instance.version, given);
        },
      );
      // By what was given, and not read anew: somebody else may have changed or removed the instance since.
      const changes = compare(before);
      if (hasNewKey) changes['api_key'] = { from: SECRET, to: SECRET };
      if (Object.keys(changes).length > 0) await record('instance.update', name, changes);
      return show(await find(name));
    },

    async removeInstance(name, version) {
      const before = await changeRow(
        () => find(name),
        version,
        (instance) => instances.remove(name, instance.version),
      );
      await record('instance.remove', name, compareMembers({ ...members(before), api_key: SECRET }, {}));
    },

    async rotateInstanceKey(name) {
      const before = await find(name);
      await deps.rotateInstanceKey(name);
      const after = await find(name);
      const changes = compareMembers(members(before), members(after));
      await record('instance.rotate-key', name, { ...changes, api_key: { from: SECRET, to: SECRET } });
      return show(after);
    },

    async resealVault() {
      const resealed = await instances.reseal();
      if (resealed > 0) await recordAct('vault.reseal', 'vault', { resealed: { from: null, to: resealed } });
      return { resealed };
    },
  };
}

/** The members that an administrator sets. */
function listMembers({ key, created_at: _, updated_at: __, version: ___, ...rest }: InstanceView) {
  return { ...rest, rotate_key: key.rotate, key_expires_at: key.expires_at };
}

/** The members that are to be set, but for the key, as they are listed. */
function readGiven({ api_key: _, ...members }: InstanceChanges) {
  const time = readTime(members.key_expires_at ?? '');
  return typeof time === 'number' ? { ...members, key_expires_at: showTime(time) } : members;
}

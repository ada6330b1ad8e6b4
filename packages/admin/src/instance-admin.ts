/** The operations of an administrator on stored instances. */
import type { InstanceChanges, InstanceView } from '@erp-proxy/contract';
import { type InstanceRecord, VaultError } from '@erp-proxy/control/instances';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { type AdminError, createAdminError } from './admin-error.ts';
import {
  type Changes,
  compareMembers,
  createConnectionResealDescriber,
  createKeyRotationDescriber,
  createResealDescriber,
  createSecretResealDescriber,
  type DescribeAction,
  SECRET,
} from './audited-actions.ts';
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
  | 'checkInstance'
  | 'resealVault'
>;

export function createInstanceAdmin(deps: AdminDeps, describeAction: DescribeAction): InstanceAdmin {
  const { instances, clock } = deps;
  const show = (instance: InstanceRecord) => showInstance(instance, clock());
  const members = (instance: InstanceRecord) => listMembers(show(instance));
  const describe = (action: string, name: string, changes: Changes) =>
    describeAction(action, `instance ${name}`, changes, [name]);

  async function find(name: string): Promise<InstanceRecord> {
    const instance = await instances.get(name);
    if (instance === null) throw explainMissing(name);
    return instance;
  }

  /** Finds an instance even if its content cannot be read, so that it can be removed. */
  async function findToRemove(name: string) {
    const version = await instances.getVersion(name);
    if (version === null) throw explainMissing(name);
    const instance = await instances.get(name).catch((error: unknown) => {
      if (error instanceof VaultError) return null;
      throw error;
    });
    return { ...version, createdAt: instance?.createdAt ?? 0, instance };
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
      const made = await instances.add(input, (instance) =>
        describe(
          'instance.create',
          instance.name,
          compareMembers({}, { ...members(instance), api_key: SECRET }),
        ),
      );
      if (made === null) {
        throw createAdminError(
          409,
          `There is an instance ${JSON.stringify(input.name)} already: change it, or take another name.`,
        );
      }
      return show(made);
    },

    getInstance: async (name) => show(await find(name)),

    async updateInstance(name, given, tag) {
      const compare = (instance: InstanceRecord): Changes => ({
        ...compareMembers(members(instance), { ...members(instance), ...readGiven(given) }),
        ...(given.api_key === undefined ? {} : { api_key: { from: SECRET, to: SECRET } }),
      });
      await changeRow(
        () => find(name),
        tag,
        async (instance) => {
          const changes = compare(instance);
          if (Object.keys(changes).length === 0) return 'done';
          return instances.update(instance, given, describe('instance.update', name, changes));
        },
      );
      return show(await find(name));
    },

    async removeInstance(name, tag) {
      await changeRow(
        () => findToRemove(name),
        tag,
        ({ instance, ...version }) => {
          const changes = compareMembers({ ...(instance && members(instance)), api_key: SECRET }, {});
          return instances.remove(version, describe('instance.remove', name, changes));
        },
      );
    },

    async rotateInstanceKey(name) {
      await find(name);
      await deps.rotateInstanceKey(name, createKeyRotationDescriber(describeAction));
      return show(await find(name));
    },

    async checkInstance(name, onCheck) {
      const examination = await deps.examinations.run(() => deps.examineInstance(name, onCheck));
      if (examination === null) throw explainMissing(name);
      return examination;
    },

    async resealVault() {
      const keys = await instances.reseal(createResealDescriber(describeAction));
      const own = await deps.connections.reseal(createConnectionResealDescriber(describeAction));
      const secrets = await deps.subscriptions.reseal(createSecretResealDescriber(describeAction));
      return { resealed: keys + own + secrets };
    },
  };
}

function explainMissing(name: string): AdminError {
  return createAdminError(404, `There is no instance ${JSON.stringify(name)}.`);
}

/** The members that an administrator can set. */
function listMembers({ key, created_at: _, updated_at: __, version: ___, ...rest }: InstanceView) {
  return { ...rest, rotate_key: key.rotate, key_expires_at: key.expires_at };
}

/** The given members except the key, converted to the form of views. */
function readGiven({ api_key: _, ...members }: InstanceChanges) {
  const time = readTime(members.key_expires_at ?? '');
  return typeof time === 'number' ? { ...members, key_expires_at: showTime(time) } : members;
}

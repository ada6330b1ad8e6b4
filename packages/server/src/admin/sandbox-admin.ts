/** Starts the sandbox for a person who has no Odoo server at hand. Only a first start offers it. */
import type { SandboxView } from '@erp-proxy/contract';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';

const NAME = 'sandbox';

export function createSandboxAdmin(
  { startSandbox, instances }: Pick<AdminDeps, 'startSandbox' | 'instances'>,
  createInstance: Admin['createInstance'],
): Pick<Admin, 'getSandbox' | 'startSandbox'> {
  async function hasInstance(): Promise<boolean> {
    return (await instances.list({ after: null, limit: 1 })).length > 0;
  }

  return {
    async getSandbox(): Promise<SandboxView> {
      return { available: startSandbox !== null && !(await hasInstance()) };
    },

    async startSandbox() {
      if (startSandbox === null) throw createAdminError(404, NOT_HERE);
      if (await hasInstance()) throw createAdminError(409, HAS_INSTANCE);
      const { url, db, userId, apiKey } = await startSandbox();
      // Private addresses are allowed to this one instance only.
      return createInstance({ name: NAME, url, db, user_id: userId, api_key: apiKey, allow_private: true });
    },
  };
}

const NOT_HERE =
  'This proxy starts no sandbox: only `erp-proxy serve` on a terminal with the secrets of a first start does. Run `npx erp-proxy sandbox`, and add it as an instance.';
const HAS_INSTANCE =
  'An instance is stored already: the sandbox is only started for a proxy without any. Run `npx erp-proxy sandbox`, and add it as an instance.';

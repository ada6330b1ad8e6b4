/** `vault …`: creates a master key, and reseals the keys of instances. */
import { randomBytes } from 'node:crypto';
import { type Command, JSON_OPTION, printResult } from './command.ts';
import { ADMIN_OPTIONS, useAdmin } from './use-admin.ts';

export const vaultCommands: readonly Command[] = [
  {
    name: 'vault key',
    summary: 'Create a master key for vault.masterKey and print it. It is not stored: keep it safe.',
    options: { json: JSON_OPTION },
    async run(input) {
      const masterKey = randomBytes(32).toString('base64');
      return printResult(input, { master_key: masterKey }, `${masterKey}\n`);
    },
  },
  {
    name: 'vault reseal',
    summary:
      'Reseal under vault.masterKey what is sealed under vault.otherMasterKeys. Each start of the proxy does the same.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const { resealed } = await admin.resealVault();
        const done = `Instances sealed again: ${resealed}.`;
        const text = resealed === 0 ? 'All is sealed under the master key.' : done;
        return printResult(input, { resealed }, `${text}\n`);
      }),
  },
];

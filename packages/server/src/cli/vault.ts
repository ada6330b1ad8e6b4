/** `vault …`: creates a master key, and reseals the keys of instances. */
import { randomBytes } from 'node:crypto';
import { type Command, JSON_OPTION, printResult } from './command.ts';
import { adminCommand } from './use-admin.ts';

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
  adminCommand({
    name: 'vault reseal',
    summary:
      'Reseal under vault.masterKey what is sealed under vault.otherMasterKeys. Each start of the proxy does the same.',
    ask: (admin) => admin.resealVault(),
    show: ({ resealed }) =>
      resealed === 0 ? 'All is sealed under the master key.\n' : `Instances sealed again: ${resealed}.\n`,
  }),
];

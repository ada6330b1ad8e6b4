/** `vault …`: creates a master key, and reseals the keys of instances. */
import { randomBytes } from 'node:crypto';
import { type Command, JSON_OPTION, printJson } from './command.ts';
import { ADMIN_OPTIONS, useAdmin } from './use-admin.ts';

export const vaultKeyCommand: Command = {
  name: 'vault key',
  arguments: [],
  summary: 'Create a master key for vault.masterKey and print it. It is not stored: keep it safe.',
  options: { json: JSON_OPTION },
  async run(input) {
    const masterKey = randomBytes(32).toString('base64');
    if (input.isSet('json')) printJson(input, { master_key: masterKey });
    else input.print(`${masterKey}\n`);
    return 0;
  },
};

export const vaultResealCommand: Command = {
  name: 'vault reseal',
  arguments: [],
  summary:
    'Reseal under vault.masterKey what is sealed under vault.otherMasterKeys. Each start of the proxy does the same.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const { resealed } = await admin.resealVault();
      if (input.isSet('json')) printJson(input, { resealed });
      else
        input.print(
          resealed === 0 ? 'All is sealed under the master key.\n' : `Instances sealed again: ${resealed}.\n`,
        );
      return 0;
    }),
};

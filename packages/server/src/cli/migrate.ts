/** `migrate`: upgrades the configured store, as every start does, and prints the versions. */
import { findUpgrade, openStore } from '../stores/open.ts';
import { type Command, CommandError, JSON_OPTION, printJson } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  arguments: [],
  summary: 'Upgrade the store, or create it. Each start of the proxy does the same.',
  options: { json: JSON_OPTION },
  async run(input) {
    const { url } = input.settings.store;
    if (url === 'memory:')
      throw new CommandError('store.url is memory:, which has nothing to bring up to date.');
    const store = await openStore(url);
    await store.close();
    const { label } = store;
    const { from = null, to = null } = store.migration ?? {};
    const upgrade = findUpgrade(store);
    if (input.isSet('json')) printJson(input, { store: label, from, to });
    else if (upgrade !== null)
      input.print(`${label} was brought from version ${from} to ${to}. ${upgrade.advice}\n`);
    else if (from === 0) input.print(`${label} is new; it has version ${to}.\n`);
    else input.print(`${label} is up to date${to === null ? '' : ` (version ${to})`}.\n`);
    return 0;
  },
};

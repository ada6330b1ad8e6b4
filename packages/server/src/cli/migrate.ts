/** `migrate`: upgrades the configured store, as every start does, and prints the versions. */
import { findUpgrade, openStore } from '@erp-proxy/stores';
import { type Command, CommandError, JSON_OPTION, printResult } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
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
    const text =
      upgrade !== null
        ? `was brought from version ${from} to ${to}. ${upgrade.advice}`
        : from === 0
          ? `is new; it has version ${to}.`
          : `is up to date${to === null ? '' : ` (version ${to})`}.`;
    return printResult(input, { store: label, from, to }, `${label} ${text}\n`);
  },
};

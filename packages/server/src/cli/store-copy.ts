/** `store copy`: copies the store into another engine, and verifies the copy. */
import { copyStore } from '@erp-proxy/stores';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printJson } from './command.ts';
import { readText } from './read-text.ts';
import { openLocalAdmin } from './use-admin.ts';

export const storeCopyCommand: Command = {
  name: 'store copy',
  summary: 'Copy everything of the store into an empty one, and verify the copy: to move it, or as a backup.',
  options: {
    from: { value: 'url', description: 'The store to copy. Default: store.url.' },
    to: { value: 'url', description: 'The empty store, as for store.url.' },
    'to-file': {
      value: 'file',
      description:
        'Read the URL of the empty store from this file: it may have a password. `-`: standard input.',
    },
    'while-running': {
      description: 'Copy the state of this moment, for a backup. Without it, stop the proxy first.',
    },
    json: JSON_OPTION,
  },
  async run(input) {
    const from = input.option('from') ?? input.settings.store.url;
    const to = await readTarget(input);
    const tables = await copyStore(from, to, {
      isSnapshot: input.isSet('while-running'),
      setBy: {
        from: input.option('from') === undefined ? 'store.url' : '--from',
        to: input.option('to') === undefined ? '--to-file' : '--to',
      },
      onUpgrade: ({ store, from, to, advice }) =>
        input.complain(`${store} was brought from version ${from} to ${to}. ${advice}\n`),
    });
    const settings = { ...input.settings, store: { ...input.settings.store, url: to } };
    const { admin, close } = await openLocalAdmin({ ...input, settings }, 'refuse');
    try {
      const { intact, last_seq, fault } = await admin.verifyAudit({});
      if (input.isSet('json')) printJson(input, { tables, audit: { intact, last_seq } });
      else {
        for (const { name, rows } of tables) input.print(`${name}: ${rows}\n`);
        if (intact) input.print(`The copy is complete, and its audit is intact up to record ${last_seq}.\n`);
        else
          input.print(
            `The copy is complete. Its audit is not intact, at record ${fault?.seq}: ${fault?.problem} Compare with "erp-proxy audit verify" on the old store.\n`,
          );
      }
      return intact ? 0 : 1;
    } finally {
      await close();
    }
  },
};

async function readTarget(input: CommandInput): Promise<string> {
  const [to, file] = [input.option('to'), input.option('to-file')];
  if (to !== undefined && file === undefined) return to;
  if (file !== undefined && to === undefined) return readText(file, await input.readInput(file)).trim();
  throw new CommandError('Name the empty store with --to or --to-file.');
}

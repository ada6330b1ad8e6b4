/** `sandbox`: an Odoo look-alike to try things on, until it is told to stop. */
import { startSandbox, type Version } from '@erp-proxy/sandbox';
import { type Command, CommandError, JSON_OPTION, printJson } from './command.ts';

const VERSIONS: readonly Version[] = [16, 17, 18, 19, 22];

export const sandboxCommand: Command = {
  name: 'sandbox',
  arguments: [],
  summary: 'Run an Odoo look-alike with the data of a small company, to try calls on.',
  options: {
    version: {
      type: 'string',
      value: '16|17|18|19|22',
      description: 'The Odoo version it answers as. Default: 18.',
    },
    port: { type: 'string', value: 'port', description: 'TCP port. Default: 8069, as Odoo.' },
    json: JSON_OPTION,
  },
  async run(input) {
    const version = VERSIONS.find((known) => String(known) === (input.option('version') ?? '18'));
    if (version === undefined) throw new CommandError(`--version is one of ${VERSIONS.join(', ')}.`);
    const port = Number(input.option('port') ?? 8069);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CommandError('--port is 0 to 65535.');
    const stopped = input.untilStopped();
    const sandbox = await startSandbox({ version, port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new CommandError(`Port ${port} is taken; choose another with --port.`);
    });
    const { url, db, users } = sandbox;
    if (input.isSet('json')) {
      printJson(input, { url, version, db, users });
    } else {
      input.print(`Odoo ${version} sandbox on ${url}\n  db       ${db}\n`);
      for (const [name, { userId, apiKey }] of Object.entries(users)) {
        input.print(`  ${name.padEnd(8)} user_id ${userId}, api_key ${apiKey}\n`);
      }
      input.print('The proxy reaches it only if egress.allow names it: npm start -- --egress.allow ');
      input.print(`${url}\n`);
    }
    await stopped;
    await sandbox.close();
    return 0;
  },
};

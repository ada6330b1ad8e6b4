/** `sandbox`: runs a simulated Odoo server until it is stopped. */
import type { Version } from '@erp-proxy/sandbox';
import { type Command, CommandError, JSON_OPTION, printJson } from './command.ts';

const VERSIONS: readonly Version[] = [14, 15, 16, 17, 18, 19, 22];

export const sandboxCommand: Command = {
  name: 'sandbox',
  summary: 'Run a simulated Odoo server with the data of a small company.',
  options: {
    version: { value: '14|15|16|17|18|19|22', description: 'Odoo version to simulate. Default: 18.' },
    port: { value: 'port', description: 'TCP port. Default: 8069, the port of Odoo.' },
    json: JSON_OPTION,
  },
  async run(input) {
    const version = VERSIONS.find((known) => String(known) === (input.option('version') ?? '18'));
    if (version === undefined) throw new CommandError(`--version is one of ${VERSIONS.join(', ')}.`);
    const port = Number(input.option('port') ?? 8069);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CommandError('--port is 0 to 65535.');
    const stopped = input.untilStopped();
    // Loaded here, so that other commands start faster.
    const { startSandbox } = await import('@erp-proxy/sandbox');
    const sandbox = await startSandbox({ version, port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        throw new CommandError(`Port ${port} is taken; choose another with --port.`);
      }
      if (error.code !== 'EACCES') throw error;
      throw new CommandError(`Port ${port} may not be used by this user; choose one above 1023 with --port.`);
    });
    const { url, db, users } = sandbox;
    if (input.isSet('json')) {
      printJson(input, { url, version, db, users });
    } else {
      input.print(`Odoo ${version} sandbox on ${url}\n  db       ${db}\n`);
      for (const [name, { userId, apiKey }] of Object.entries(users)) {
        input.print(`  ${name.padEnd(8)} user_id ${userId}, api_key ${apiKey}\n`);
      }
      input.print('The proxy reaches it only if egress.allow names it: ');
      input.print(`npx erp-proxy serve --egress.allow ${url}\n`);
    }
    await stopped;
    await sandbox.close();
    return 0;
  },
};

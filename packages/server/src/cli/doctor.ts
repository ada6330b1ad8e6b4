/** `doctor`: checks whether the proxy can work with an Odoo server, and says what to do if not. */

import { AdminError } from '@erp-proxy/admin/errors';
import type { Examination } from '@erp-proxy/contract';
import { findCertificateError, trustOf } from '@erp-proxy/control/instances';
import type { EgressTrust } from '@erp-proxy/egress';
import { StartError } from '@erp-proxy/observe/start-error';
import { type Credentials, examineAddress } from '../app/examination.ts';
import { openEgress } from '../app/services.ts';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printJson } from './command.ts';
import { LOGIN_OPTION } from './instances.ts';
import { readAddress } from './proxy-access.ts';
import { readText } from './read-text.ts';
import { useAdmin } from './use-admin.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  arguments: ['[odoo-url]'],
  summary:
    'Check an Odoo server or a stored instance: connection, version, protocol and, if given, database, user and key.',
  options: {
    instance: { value: 'name', description: 'Name of a stored instance, in place of an address.' },
    url: {
      value: 'address',
      description:
        'With --instance: let the proxy at this address check; needs a token (ERP_PROXY_ADMIN_TOKEN). Default: check from here.',
    },
    db: { value: 'name', description: 'Name of the database, to check the credentials.' },
    'user-id': { value: 'number', description: 'Id of the user in Odoo.' },
    login: LOGIN_OPTION,
    'api-key-file': {
      value: 'file',
      description: "File that contains the user's API key; - for standard input.",
    },
    'certificates-file': {
      value: 'file',
      description: 'With an address: PEM certificates to trust in place of the public ones.',
    },
    json: JSON_OPTION,
  },
  async run(input) {
    const examination = await examine(input);
    const { ok, checks } = examination;
    if (input.isSet('json')) printJson(input, examination);
    else
      for (const { state, name, text } of checks) input.print(`${SIGNS[state]} ${name.padEnd(11)} ${text}\n`);
    return ok ? 0 : 1;
  },
};

const SIGNS = { ok: 'ok     ', failed: 'FAILED ', skipped: '-      ' };

async function examine(input: CommandInput): Promise<Examination> {
  const { option, settings } = input;
  const [address] = input.arguments;
  const instance = option('instance');
  if ((address === undefined) === (instance === undefined)) {
    throw new CommandError(
      'Give the address of an Odoo server, or a stored instance with --instance <name>.',
    );
  }
  const credentials = await readCredentials(input);
  if (address === undefined) {
    if (credentials !== null) {
      throw new CommandError('--instance has a database, a user and a key of its own: leave the others out.');
    }
    return examineStored(input, instance ?? '');
  }
  if (option('url') !== undefined) throw new CommandError('--url goes with --instance only.');
  const egress = openOwnEgress(input);
  try {
    const trust = await readTrust(input);
    return await examineAddress({ url: address, credentials, trust }, settings, egress);
  } finally {
    await egress.close();
  }
}

async function readTrust({ option, readInput }: CommandInput): Promise<EgressTrust | null> {
  const file = option('certificates-file');
  if (file === undefined) return null;
  const certificates = readText(file, await readInput(file));
  const error = findCertificateError(certificates);
  if (error !== null) throw new CommandError(`--certificates-file ${error}.`);
  return trustOf({ certificates, allowPrivate: false });
}

async function examineStored(input: CommandInput, name: string): Promise<Examination> {
  const examination = await examineBy(input, name);
  const isRefusedHere = examination.checks.some(
    (check) => check.name === 'egress' && check.state === 'failed',
  );
  if (input.option('url') !== undefined || !isRefusedHere) return examination;
  return (await askRunningProxy(input, name)) ?? examination;
}

async function examineBy(
  input: Pick<CommandInput, 'option' | 'settings' | 'env' | 'version' | 'complain'>,
  name: string,
): Promise<Examination> {
  let examination: Examination | undefined;
  await useAdmin(input, async (admin) => {
    examination = await admin.checkInstance(name);
    return 0;
  });
  return examination as Examination;
}

/**
 * Asks the running proxy to check the server: its egress settings can differ from those of this command. Null if the
 * proxy cannot be asked.
 */
async function askRunningProxy(input: CommandInput, name: string): Promise<Examination | null> {
  const { href: url } = readAddress(input);
  const option = (asked: string) => (asked === 'url' ? url : input.option(asked));
  try {
    const examination = await examineBy({ ...input, option }, name);
    input.complain(`The settings of this command refuse the server, so ${url} checked it.\n`);
    return examination;
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof AdminError)) throw error;
    input.complain(
      'The settings of this command refuse the server. A running proxy may have others: ask it with --url and admin.token.\n',
    );
    return null;
  }
}

function openOwnEgress({ settings }: CommandInput): ReturnType<typeof openEgress> {
  try {
    return openEgress(settings);
  } catch (error) {
    if (error instanceof StartError) throw new CommandError(error.message);
    throw error;
  }
}

async function readCredentials({ option, readInput }: CommandInput): Promise<Credentials | null> {
  const db = option('db');
  const userId = option('user-id');
  const login = option('login');
  const file = option('api-key-file');
  if ((db ?? userId ?? login ?? file) === undefined) return null;
  if (userId !== undefined && login !== undefined) throw new CommandError('Give --user-id or --login.');
  const isUserGiven = login !== undefined || /^[1-9]\d{0,9}$/.test(userId ?? '');
  if (db === undefined || file === undefined || !isUserGiven) {
    throw new CommandError(
      'To check credentials give --db, --user-id (a positive number) or --login, and --api-key-file together.',
    );
  }
  const apiKey = readText(file, await readInput(file)).trim();
  // An empty key is not sent to Odoo, which counts each failed attempt.
  if (apiKey === '') throw new CommandError(`--api-key-file: there is no key in ${file}.`);
  return { db, userId: Number(userId ?? 0), login: login ?? null, apiKey };
}

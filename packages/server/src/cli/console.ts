/** `console`: prints a link that signs in to the console. It needs the admin token, and no connection to the proxy. */

import { CODE_LIFE_MINUTES } from '@erp-proxy/admin/sign-in-codes';
import { TOKEN_PREFIX } from '@erp-proxy/control/keys/format';
import { URL_VARIABLE } from '../config/names.ts';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printResult } from './command.ts';
import { readAddress } from './proxy-access.ts';
import { describeLink, makeSignInLink } from './sign-in-link.ts';

export const consoleCommand: Command = {
  name: 'console',
  summary: `Print a link that signs you in to the console as administrator. It works once, within ${CODE_LIFE_MINUTES} minutes.`,
  options: {
    url: {
      value: 'address',
      description: `Address of the proxy. Default: ${URL_VARIABLE}, http.publicUrl, or http.host and http.port.`,
    },
    json: JSON_OPTION,
  },
  async run(input) {
    const { token } = input.settings.admin;
    if (token === null) throw new CommandError(NO_TOKEN, 1);
    if (token.startsWith(TOKEN_PREFIX)) throw new CommandError(PERSONAL_TOKEN, 1);
    if (!input.settings.console.enabled) {
      throw new CommandError('console.enabled is false: the proxy serves no console. Set it to true.', 1);
    }
    const { url, expiresAt } = makeSignInLink(token, readProxyUrl(input));
    return printResult(input, { url, expires_at: new Date(expiresAt).toISOString() }, describeLink(url));
  },
};

const NO_TOKEN =
  'admin.token is not set. Start the proxy once on a terminal: it creates a token beside its SQLite file. Or set a token for the proxy and for this command, in ERP_PROXY_ADMIN_TOKEN or in the file that ERP_PROXY_ADMIN_TOKEN_FILE names.';

const PERSONAL_TOKEN =
  'The token here is a personal one, which signs no link: give the admin.token of the proxy.';

/** The address of the proxy that `--url`, the environment or the settings name. */
export function readProxyUrl(input: CommandInput): string {
  const { publicUrl, port } = input.settings.http;
  const isGiven = input.option('url') !== undefined || Boolean(input.env[URL_VARIABLE]);
  if (!isGiven && publicUrl !== null) return publicUrl;
  if (!isGiven && port === 0) {
    throw new CommandError('http.port is 0, so the port of the proxy is not known here; give --url.');
  }
  const { origin, pathname } = readAddress(input);
  return `${origin}${pathname}`;
}

/** The options with which a command calls a running proxy as a client does: its address and a client key. */
import { KEY_VARIABLE, URL_VARIABLE } from '../config/names.ts';
import { CommandError, type CommandInput, type CommandOption } from './command.ts';

export const PROXY_OPTIONS = {
  url: {
    value: 'address',
    description: `Address of the proxy. Default: ${URL_VARIABLE}, otherwise http.host and http.port.`,
  },
  key: {
    value: 'key',
    description: `Client key, visible to other users of the machine. Default: ${KEY_VARIABLE}.`,
  },
  'key-file': { value: 'file', description: 'File that contains the client key.' },
} satisfies Record<string, CommandOption>;

/** The advice after a 404 for a route that the proxy does not have. */
export const OTHER_VERSION =
  'The proxy does not know this request: it has another version than this program, or its address a wrong path. Use the erp-proxy of its version, or upgrade the proxy.';

export function readAddress({ option, settings, env }: CommandInput): URL {
  const { host, port } = settings.http;
  const given = option('url');
  const text = given ?? (env[URL_VARIABLE] || makeLocalUrl(host, port));
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const source = given === undefined ? URL_VARIABLE : '--url';
    throw new CommandError(
      `${source} "${text}" is not the address of a proxy, such as http://127.0.0.1:8787.`,
    );
  }
  return url;
}

/**
 * The address of a route. The given address of the proxy can have a path, under which a reverse proxy serves the proxy,
 * or can already be that of a route.
 */
export function locateRoute({ origin, pathname }: URL, path: string): URL {
  const prefix = pathname.replace(/\/+$/, '').replace(ROUTE, '');
  return new URL(`${origin}${prefix}${path}`);
}

const ROUTE = /\/(mcp|api\/erp\/\w+)$/;

export async function readKey({ option, readInput, env }: CommandInput): Promise<string> {
  const file = option('key-file');
  const key =
    file === undefined ? (option('key') ?? env[KEY_VARIABLE]) : (await readInput(file)).toString().trim();
  if (!key) {
    throw new CommandError(`Give the client key with --key-file or --key, or in ${KEY_VARIABLE}.`);
  }
  // The error does not show a text that cannot be in a header: it may be another secret, or a whole file.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandError('This is not the text of a client key: ep_….');
  return key;
}

/** The value of `--timeout`, in the form of the header `x-request-timeout`. */
export function readTimeout({ option }: CommandInput): string | undefined {
  const seconds = option('timeout');
  if (seconds === undefined || /^\d+$/.test(seconds)) return seconds;
  throw new CommandError(`--timeout "${seconds}" is not a whole number of seconds.`);
}

/** The loopback address, by which a server that listens on all interfaces is reached. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Finds the address at which programs on this machine reach a server that listens on `host`. */
export function makeLocalUrl(host: string, port: number | string): string {
  const reached = LOOPBACK_OF[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** `call`: sends a call to a running proxy and prints its answer, byte for byte. */
import { EXECUTE_PATH, KEY_HEADER } from '@erp-proxy/contract';
import { KEY_VARIABLE, URL_VARIABLE } from '../config/names.ts';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { makeLocalUrl } from './local-url.ts';
import { createDispatcherTo, postJson } from './post.ts';

export const callCommand: Command = {
  name: 'call',
  arguments: ['[file]'],
  summary: 'Send a call from a JSON file (or standard input) to a running proxy and print the answer.',
  options: {
    url: {
      type: 'string',
      value: 'address',
      description: `Address of the proxy. Default: ${URL_VARIABLE}, otherwise http.host and http.port.`,
    },
    key: {
      type: 'string',
      value: 'key',
      description: `Client key, visible to other users of the machine. Default: ${KEY_VARIABLE}.`,
    },
    'key-file': { type: 'string', value: 'file', description: 'File that contains the client key.' },
    timeout: { type: 'string', value: 'seconds', description: 'Time limit of the whole call.' },
  },
  async run(input) {
    const base = readAddress(input);
    const key = await readKey(input);
    const body = await input.readInput(input.arguments[0] ?? '-');
    const timeout = readTimeout(input);
    const egress = createDispatcherTo(base.origin);
    try {
      const url = new URL(EXECUTE_PATH, base);
      const headers = {
        [KEY_HEADER]: key,
        ...(timeout === undefined ? {} : { 'x-request-timeout': timeout }),
      };
      const answer = await postJson(egress, url, body, headers);
      if (!answer.ok) {
        input.complain(`No answer from ${base.origin} (${answer.detail}); is the proxy running there?\n`);
        return 1;
      }
      input.print(`${answer.body}\n`);
      return isSuccess(answer.body) ? 0 : 1;
    } finally {
      await egress.close();
    }
  },
};

function readAddress({ option, settings, env }: CommandInput): URL {
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

async function readKey({ option, readInput, env }: CommandInput): Promise<string> {
  const file = option('key-file');
  const key =
    file === undefined ? (option('key') ?? env[KEY_VARIABLE]) : (await readInput(file)).toString().trim();
  if (!key) {
    throw new CommandError(`Give the client key with --key-file or --key, or in ${KEY_VARIABLE}.`);
  }
  // A text that cannot be in a header is not shown: it may be another secret, or a whole file.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandError('This is not the text of a client key: ep_….');
  return key;
}

function readTimeout({ option }: CommandInput): string | undefined {
  const seconds = option('timeout');
  if (seconds !== undefined && !/^\d+$/.test(seconds))
    throw new CommandError(`--timeout "${seconds}" is not a whole number of seconds.`);
  return seconds;
}

/** True if the answer, or every answer of a batch, has a result. */
function isSuccess(body: Buffer): boolean {
  try {
    const answers: unknown[] = [JSON.parse(body.toString())].flat();
    return answers.every((answer) => typeof answer === 'object' && answer !== null && 'result' in answer);
  } catch {
    return false;
  }
}

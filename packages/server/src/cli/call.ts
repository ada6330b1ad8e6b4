/** `call`: sends a call to a running proxy and prints its answer, byte for byte. */
import { EXECUTE_PATH, KEY_HEADER, tryParse } from '@erp-proxy/contract';
import type { Command } from './command.ts';
import { createDispatcherTo, postJson } from './post.ts';
import { locateRoute, PROXY_OPTIONS, readAddress, readKey, readTimeout } from './proxy-access.ts';

export const callCommand: Command = {
  name: 'call',
  arguments: ['[file]'],
  summary: 'Send a call from a JSON file (or standard input) to a running proxy and print the answer.',
  options: {
    ...PROXY_OPTIONS,
    timeout: { value: 'seconds', description: 'Time limit of the whole call.' },
  },
  async run(input) {
    const base = readAddress(input);
    const key = await readKey(input);
    const body = await input.readInput(input.arguments[0] ?? '-');
    const timeout = readTimeout(input);
    const egress = createDispatcherTo(base.origin);
    try {
      const url = locateRoute(base, EXECUTE_PATH);
      const headers = {
        [KEY_HEADER]: key,
        ...(timeout === undefined ? {} : { 'x-request-timeout': timeout }),
      };
      const answer = await postJson(egress, url, body, { headers });
      if (!answer.ok) {
        input.complain(`No answer from ${base.origin} (${answer.detail}); is the proxy running there?\n`);
        return 1;
      }
      input.print(`${answer.body}\n`);
      const members = listMembers(answer.body);
      if (!members.every((names) => names.includes('result') || names.includes('error')))
        input.complain(`${base.origin} does not answer as an erp-proxy; check --url.\n`);
      return members.every((names) => names.includes('result')) ? 0 : 1;
    } finally {
      await egress.close();
    }
  },
};

/** The names of the members of the answer, or of each answer of a batch. Empty if the body is not JSON. */
function listMembers(body: Buffer): string[][] {
  return [tryParse(body.toString())].flat().map((answer) => Object.keys(Object(answer)));
}

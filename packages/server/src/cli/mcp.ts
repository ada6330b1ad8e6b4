/** `mcp`: lets a local MCP client use a running proxy, over standard input and output. */
import { resolve } from 'node:path';
import { KEY_HEADER } from '@erp-proxy/contract';
import { findNearestName } from '@erp-proxy/text';
import { type Command, CommandError } from './command.ts';
import { CLIENT_CONFIGURATIONS } from './mcp/client-configurations.ts';
import { createDispatcherTo, postJson } from './post.ts';
import { locateRoute, PROXY_OPTIONS, readAddress, readKey } from './proxy-access.ts';

const MCP_PATH = '/mcp';
const STANDARD_INPUT = '-';
const CLIENT_NAMES = CLIENT_CONFIGURATIONS.map(({ name }) => name);

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'Serve the tools of a running proxy to a local MCP client, over standard input and output.',
  options: {
    ...PROXY_OPTIONS,
    'print-config': {
      value: 'client',
      description: 'Print what to paste for a client, such as claude-desktop or cursor, and end.',
    },
  },
  async run(input) {
    const base = readAddress(input);
    const url = locateRoute(base, MCP_PATH);
    const client = input.option('print-config');
    const keyFile = input.option('key-file');
    if (keyFile === STANDARD_INPUT) {
      throw new CommandError(
        '--key-file - is not possible: the messages of the client are on standard input.',
      );
    }
    if (client !== undefined) {
      const { place, render } = findConfiguration(client);
      input.complain(`For ${place}:\n`);
      // The path of the key file is made absolute, because the client starts the program in another folder.
      input.print(
        render({
          url: url.href.slice(0, -MCP_PATH.length),
          keyFile: keyFile === undefined ? undefined : resolve(keyFile),
        }),
      );
      return 0;
    }
    const key = await readKey(input);
    const egress = createDispatcherTo(base.origin);
    // The SDK is loaded here, so that other commands do not wait for it.
    const { runBridge } = await import('./mcp/bridge.ts');
    try {
      await runBridge({
        version: input.version,
        untilStopped: input.untilStopped(),
        onFault: (problem) => input.complain(`${problem}\n`),
        async send(body, headers, signal) {
          const sent = { headers: { ...headers, [KEY_HEADER]: key }, signal };
          const answer = await postJson(egress, url, body, sent);
          if (answer.ok) return { text: answer.body.toString() };
          const problem = `No answer from ${base.origin} (${answer.detail}); is the proxy running there?`;
          // After a cancellation, or at the end of the session, nobody waits for the answer.
          if (!signal.aborted) input.complain(`${problem}\n`);
          return { problem };
        },
      });
      return 0;
    } finally {
      await egress.close();
    }
  },
};

function findConfiguration(name: string): (typeof CLIENT_CONFIGURATIONS)[number] {
  const found = CLIENT_CONFIGURATIONS.find((configuration) => configuration.name === name);
  if (found !== undefined) return found;
  throw new CommandError(
    `--print-config "${name}" is not known; did you mean "${findNearestName(name, CLIENT_NAMES)}"? Known: ${CLIENT_NAMES.join(', ')}.`,
  );
}

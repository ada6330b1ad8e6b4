/** Tests programs that npx or npm started: they end when npx or npm ends. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pause } from '../time.ts';
import { makeFolder, startShell } from './program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A program that npm started checks twice a second whether npm still runs. */
const SEVERAL_CHECKS_MS = 2500;

const COMMANDS: [command: string, port: RegExp][] = [
  ['npx erp-proxy sandbox --port 0', /sandbox on http:\/\/127\.0\.0\.1:(\d+)/],
  ['npx erp-proxy serve', /"url":"http:\/\/127\.0\.0\.1:(\d+)"/],
  ['npm start', /"url":"http:\/\/127\.0\.0\.1:(\d+)"/],
  ['npm start -- --workers 2', /"url":"http:\/\/127\.0\.0\.1:(\d+)"/],
  ['npm run demo', /erp-proxy on http:\/\/127\.0\.0\.1:(\d+)[\s\S]*Ctrl-C ends/],
];

describe.each(['SIGTERM', 'SIGKILL'] as const)('%s to', (signal) => {
  test.each(COMMANDS)(
    '"%s" ends everything that it started, and its port is free',
    async (command, pattern) => {
      const env = {
        ERP_PROXY_STORE_URL: `sqlite:${join(makeFolder(), 'keys.db')}`,
        ERP_PROXY_HTTP_PORT: '0',
      };
      // Without a shell in between, so that the signal goes only to npm or npx.
      const program = startShell(`exec ${command}`, { folder: root, env });
      const [, port] = await program.waitFor(pattern);
      expect(await takesConnections(Number(port))).toBe(true);
      program.kill(signal);
      await expect.poll(() => takesConnections(Number(port))).toBe(false);
      // The last process that holds its output open has ended.
      await program.ended;
    },
  );
});

test('a program that a shell started continues after the shell has ended', async () => {
  const command = `${process.execPath} packages/server/bin/erp-proxy.mjs sandbox --port 0`;
  const program = startShell(`${command} & wait`, { folder: root });
  const [, port] = await program.waitFor(/sandbox on http:\/\/127\.0\.0\.1:(\d+)/);
  program.kill('SIGKILL');
  await pause(SEVERAL_CHECKS_MS);
  expect(await takesConnections(Number(port))).toBe(true);
});

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** What a command with --url says where its answer is lost: a change may have been made, and is not to be made twice. */
import { afterEach, expect, test } from 'vitest';
import { openRemoteAdmin } from '../../src/cli/remote-admin.ts';
import { makeSettings } from '../harness.ts';
import { answerLikeOdoo, type Script, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function connect(script: Script) {
  const server = await startUpstream(script);
  open.push(server);
  const settings = makeSettings({ 'admin.token': 't'.repeat(40) });
  const remote = await openRemoteAdmin({ option: () => server.url, settings });
  open.push(remote);
  return { admin: remote.admin, server };
}

const MAY_BE_MADE = /The change may have been made.*before you try again/;

const LOST: [string, Script][] = [
  ['breaks off', (socket) => void socket.destroy()],
  ['comes from a reverse proxy', (socket) => answerLikeOdoo(socket, '<h1>504</h1>', '504 Gateway Time-out')],
  [
    'breaks off in its middle',
    (socket) =>
      void socket.end(
        'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
      ),
  ],
];

test.each(LOST)('a change whose answer %s may have been made', async (_what, script) => {
  const { admin } = await connect(script);
  await expect(admin.createKey({ name: 'x' })).rejects.toThrow(MAY_BE_MADE);
  await expect(admin.rotateKey('a', { overlap_seconds: 0 })).rejects.toThrow(MAY_BE_MADE);
  await expect(admin.removeInstance('prod')).rejects.toThrow(MAY_BE_MADE);
});

test.each(LOST)('a question whose answer %s has changed nothing', async (_what, script) => {
  const { admin } = await connect(script);
  for (const ask of [admin.getKey('a'), admin.explain('a', { call: {} }), admin.examineInstance('prod')]) {
    await expect(ask).rejects.not.toThrow(MAY_BE_MADE);
  }
});

test('a change that was not sent was not made', async () => {
  const { admin, server } = await connect(() => {});
  await server.close();
  open.splice(0, 1);
  await expect(admin.createKey({ name: 'x' })).rejects.not.toThrow(MAY_BE_MADE);
});

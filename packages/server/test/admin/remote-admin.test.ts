/** A command with --url whose answer is lost reports that the change may have happened, so that nobody repeats it. */
import { expect, test } from 'vitest';
import { openRemoteAdmin } from '../../src/cli/remote-admin.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { makeSettings } from '../harness.ts';
import { answerLikeOdoo, type Script, startUpstream } from '../scripted-upstream.ts';

async function connect(script: Script) {
  const server = await startUpstream(script);
  let isClosed = false;
  closeAfterTest({ close: () => isClosed || server.close() });
  const settings = makeSettings({ 'admin.token': 't'.repeat(40) });
  const { admin } = closeAfterTest(await openRemoteAdmin({ option: () => server.url, settings, env: {} }));
  const closeServer = () => {
    isClosed = true;
    return server.close();
  };
  return { admin, closeServer };
}

const MAY_BE_MADE = /The change may have been made.*before you try again/;

const LOST: [string, Script][] = [
  ['breaks off', (socket) => void socket.destroy()],
  ['comes from a reverse proxy', (socket) => answerLikeOdoo(socket, '<h1>504</h1>', '504 Gateway Time-out')],
  [
    'breaks off in the middle',
    (socket) =>
      void socket.end(
        'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
      ),
  ],
];

test.each(LOST)('a change may have been made if its answer %s', async (_what, script) => {
  const { admin } = await connect(script);
  await expect(admin.createKey({ name: 'x' })).rejects.toThrow(MAY_BE_MADE);
  await expect(admin.rotateKey('a', { overlap_seconds: 0 })).rejects.toThrow(MAY_BE_MADE);
  await expect(admin.removeInstance('prod')).rejects.toThrow(MAY_BE_MADE);
});

test.each(LOST)('a read has changed nothing if its answer %s', async (_what, script) => {
  const { admin } = await connect(script);
  for (const ask of [admin.getKey('a'), admin.explainCall('a', { call: {} }), admin.checkInstance('prod')]) {
    await expect(ask).rejects.not.toThrow(MAY_BE_MADE);
  }
});

test('a change that could not be sent was not made', async () => {
  const { admin, closeServer } = await connect(() => {});
  await closeServer();
  await expect(admin.createKey({ name: 'x' })).rejects.not.toThrow(MAY_BE_MADE);
});

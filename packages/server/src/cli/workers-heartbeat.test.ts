import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const MODULE = new URL('workers-heartbeat.ts', import.meta.url).href;

/** A worker whose channel is closed when a beat arrives, before it learns that. */
const WORKER = `
  import { answerHeartbeats } from '${MODULE}';
  process.on('message', () => process.disconnect());
  answerHeartbeats(process);
  process.send('ready');
`;

test('a beat that arrives as the channel closes does not end the process with an error', async () => {
  const worker = spawn(process.execPath, ['--input-type=module', '--eval', WORKER], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const output = text(worker.stderr as NonNullable<typeof worker.stderr>);
  await once(worker, 'message');
  worker.send({ heartbeat: 'ask' });
  const [status] = await once(worker, 'exit');
  expect(await output).toBe('');
  expect(status).toBe(0);
});

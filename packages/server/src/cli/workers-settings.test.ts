import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { makeSettings } from '../../test/harness.ts';
import { replaceSetting } from '../config/load.ts';
import {
  markWorker,
  provideSettings,
  receiveSettings,
  reportTaken,
  type SharedSettings,
} from './workers-settings.ts';

/** The two ends of a channel. */
function openChannel() {
  const connect = (from: EventEmitter, to: EventEmitter) =>
    Object.assign(from, {
      send(message: object, onSent: (error: Error | null) => void) {
        to.emit('message', message);
        onSent(null);
      },
    });
  const [primary, worker] = [new EventEmitter(), new EventEmitter()];
  return { primary: connect(primary, worker), worker: connect(worker, primary) };
}

test('a worker that starts later gets the secrets that another one has taken over', async () => {
  const token = 'later-token-'.repeat(4);
  const settings = makeSettings({ 'admin.token': 'early-token-'.repeat(4), workers: '2' });
  const shared: SharedSettings = { given: { settings, sources: new Map(), secretsFile: null } };
  const first = openChannel();
  provideSettings(first.primary, shared);
  reportTaken(first.worker, 'admin.token', replaceSetting(settings, 'admin.token', token));
  const second = openChannel();
  provideSettings(second.primary, shared);
  // Stands for the process of the primary.
  const env = Object.fromEntries(Object.keys(markWorker()).map((name) => [name, String(process.ppid)]));
  const given = await receiveSettings(second.worker, env);
  expect(given?.settings).toEqual(replaceSetting(settings, 'admin.token', token));
});

/** How soon a process notices changes that others make in its SQLite file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import type { StoreChange } from '../ports/store.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Reply } from './operations.ts';

/** A revoked key stops working within a second. */
const LESS_THAN_A_SECOND_MS = 999;

test('a change of another process is told within a second', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erp-proxy-beat-'));
  closeAfterTest({ close: () => rmSync(directory, { recursive: true, force: true }) });
  const file = join(directory, 'store.db');
  const { port1: clock, port2 } = new MessageChannel();
  const workerData = { file, isSuccessor: false, heartbeatMemory: new Heartbeat().memory, clock: port2 };
  const thread = new Worker(new URL('./stopped-clock.fixture.ts', import.meta.url), {
    workerData,
    transferList: [port2],
    execArgv: [],
  });
  closeAfterTest({ close: () => thread.terminate() });
  let isOpen = false;
  const told: (StoreChange | null)[] = [];
  thread.on('message', (reply: Reply) => {
    if ('opened' in reply) isOpen = true;
    if ('change' in reply) told.push(reply.change);
  });
  await expect.poll(() => isOpen).toBe(true);
  const other = new DatabaseSync(file);
  other.exec("INSERT INTO changes (kind, id) VALUES ('key', 'a')");
  other.close();
  expect(told).toEqual([]);
  clock.postMessage(LESS_THAN_A_SECOND_MS);
  await expect.poll(() => told).toEqual([{ kind: 'key', id: 'a' }]);
});

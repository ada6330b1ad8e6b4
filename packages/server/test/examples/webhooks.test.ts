/** Tests the receivers of examples/webhooks with deliveries of a real subscription. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startStage } from '../subscriptions/stage.ts';
import { hasCommand } from './shop.ts';

const folder = fileURLToPath(new URL('../../../../examples/webhooks/', import.meta.url));
const RECEIVERS: [name: string, command: string, args: (port: number) => string[]][] = [
  ['typescript', process.execPath, () => [`${folder}receiver.ts`]],
  ['python', 'python3', () => [`${folder}receiver.py`]],
  ['php', 'php', (port) => ['-S', `127.0.0.1:${port}`, `${folder}receiver.php`]],
];

for (const [name, command, listArguments] of RECEIVERS) {
  const isMissing = command !== process.execPath && !hasCommand(command);
  describe.skipIf(isMissing)(`${name}${isMissing ? ` (${command} is not installed)` : ''}`, () => {
    const start = (port: number, secret: string): ChildProcess => {
      const ids = mkdtempSync(join(tmpdir(), 'webhooks-'));
      const receiver = spawn(command, listArguments(port), {
        env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, WEBHOOK_FOLDER: ids },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      closeAfterTest({
        close: () => {
          receiver.kill();
          rmSync(ids, { recursive: true, force: true });
        },
      });
      return receiver;
    };

    test('takes signed deliveries, each once, and refuses others', async () => {
      const port = await findFreePort();
      const url = `http://127.0.0.1:${port}/`;
      const { subscribe, odoo, admin } = await startStage({ settings: { 'egress.allow': '127.0.0.0/8' } });
      const made = await subscribe({ url, interval_seconds: 3600 });
      const receiver = start(port, made.secret);
      let output = '';
      receiver.stdout?.on('data', (text) => {
        output += text;
      });
      await expect.poll(async () => (await admin.pingSubscription('contacts')).delivered).toBe(true);
      const id = await odoo('create', { name: 'Test one' });
      await admin.updateSubscription('contacts', { interval_seconds: 5 });
      await expect.poll(() => output).toContain(`res.partner.upserted ${id}\n`);
      await admin.replayDeliveries('contacts', { since: '2020-01-01T00:00:00Z' });
      const attempts = async () =>
        (await admin.listDeliveries('contacts', { state: 'waiting' })).items.length;
      await expect.poll(attempts).toBe(0);
      expect(output.match(/res\.partner\.upserted/g)).toHaveLength(1);
      await admin.rotateSecret('contacts', { overlap_seconds: 0 });
      expect(await admin.pingSubscription('contacts')).toMatchObject({ delivered: false, status: 401 });
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    });

    test.each(['', ' ', 'whsec_'])('refuses what is signed with an empty secret: “%s”', async (empty) => {
      const port = await findFreePort();
      start(port, `whsec_${Buffer.from('a secret of the test').toString('base64')},${empty}`);
      await expect.poll(() => sendForged(port)).toBe(401);
    });

    test('says that its secret is missing', async () => {
      const port = await findFreePort();
      const receiver = start(port, '');
      let errors = '';
      receiver.stderr?.on('data', (text) => {
        errors += text;
      });
      // PHP has a server of its own, so the script fails at each request instead of at the start.
      if (name === 'php') await expect.poll(() => sendForged(port)).toBe(500);
      else expect(await once(receiver, 'exit')).toEqual([1, null]);
      await expect.poll(() => errors).toContain('Set WEBHOOK_SECRET');
    });
  });
}

/** Sends a delivery that is signed with an empty secret. Resolves to the status, or null while nobody listens. */
async function sendForged(port: number): Promise<number | null> {
  const body = '{"type":"res.partner.upserted","data":{"id":1}}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', '').update(`msg_1.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const sent = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
  return sent.then(
    ({ status }) => status,
    () => null,
  );
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

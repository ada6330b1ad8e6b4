/** A client key that expires soon is reported in the log, the metrics and `/readyz`. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';

const DAY_MS = 86_400_000;

test('reports a key that expires soon, and its end', async () => {
  const start = Date.now();
  let now = start;
  const proxy = closeAfterTest(
    await startProxy({ clock: () => now, settings: { 'keys.expiryNoticeDays': '7' } }),
  );
  const { keys, expiryNotices } = proxy.app;
  const expiresAt = start + 30 * DAY_MS;
  const { key, record } = await keys.create({ name: 'Shop', expiresAt });
  const readiness = async () => {
    const { status, body } = await send(`${proxy.url}/readyz`);
    return { httpStatus: status, ...JSON.parse(body.toString()) };
  };
  const readMetric = async () => {
    const text = (await send(`${proxy.url}/metrics`)).body.toString();
    return /^erp_proxy_key_expires_seconds\{(.*)\} (\S+)$/m.exec(text)?.slice(1);
  };
  const readLog = () => proxy.log.filter(({ msg }) => String(msg).startsWith('client key'));

  await expiryNotices.check();
  expect(await readiness()).toMatchObject({ httpStatus: 200, checks: { client_keys: 'ok' } });
  expect(await readMetric()).toBeUndefined();

  now = start + 24 * DAY_MS;
  for (let round = 0; round < 3; round++) await expiryNotices.check();
  expect(await readiness()).toMatchObject({
    httpStatus: 200,
    status: 'degraded',
    checks: {
      client_keys: 'client keys: 0 expired within a day, 1 to expire within 7 days; see the list of keys',
    },
  });
  const labels = `key_id="${record.id}",client_id="${record.id}"`;
  expect(await readMetric()).toEqual([labels, String(6 * 86_400)]);

  now = expiresAt + 1000;
  await expiryNotices.check();
  expect(await readMetric()).toEqual([labels, '-1']);
  const shown = { keyId: record.id, clientId: record.id, name: 'Shop' };
  const printed = { ...shown, expiresAt: new Date(expiresAt).toISOString(), level: 'warn' };
  expect(readLog()).toMatchObject([
    { ...printed, msg: 'client key expiring' },
    { ...printed, msg: 'client key expired' },
  ]);
  expect(JSON.stringify(proxy.log)).not.toContain(key);

  now = expiresAt + 2 * DAY_MS;
  await expiryNotices.check();
  expect(await readiness()).toMatchObject({ checks: { client_keys: 'ok' } });
  expect(await readMetric()).toBeUndefined();
});

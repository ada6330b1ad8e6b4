import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { refuseWith, startReceiver } from '../../server/test/subscriptions/receiver.ts';
import { expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

const OPTIONS = { settings: { 'egress.allow': '127.0.0.1' } };
const SUBSCRIPTION = { name: 'contacts', instance: 'prod', model: 'res.partner', fields: ['name'] };

test.skipIf(!HAS_CHROMIUM)('a subscription is added, and its secret verifies what is sent', async () => {
  const receiver = closeAfterTest(await startReceiver());
  const { page, ask, addInstance, goto } = await openConsole(OPTIONS);
  await addInstance();
  await goto('/subscriptions');
  await page.getByText('There are no subscriptions yet').waitFor();
  await page.getByRole('link', { name: 'Add subscription' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('contacts');
  await page.getByRole('textbox', { name: 'Receiver' }).fill(receiver.url);
  await page.getByRole('textbox', { name: 'Instance' }).fill('pro');
  await page.getByRole('option', { name: /^prod/ }).click();
  await page.getByRole('textbox', { name: 'Model' }).fill('res.partner');
  await page.getByLabel('Fields').first().fill('name,email,');
  await page.getByRole('textbox', { name: 'Domain' }).fill('[["is_company", "=", true]');
  await page.getByText('The domain must be a JSON list').waitFor();
  await page.getByRole('textbox', { name: 'Domain' }).fill('[["is_company", "=", true]]');
  await page.getByRole('radio', { name: 'With all records that match' }).check();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add subscription' }).click();
  const dialog = page.getByRole('dialog', { name: /The secret of contacts/ });
  receiver.secrets = [(await dialog.locator('code').textContent()) ?? ''];
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('heading', { name: 'contacts' }).waitFor();
  expect(await ask('GET', '/subscriptions/contacts')).toMatchObject({
    fields: ['name', 'email'],
    domain: [['is_company', '=', true]],
    start: 'all',
  });

  await page.getByRole('button', { name: 'Send ping' }).click();
  await page.getByText('The receiver took it').waitFor();
  await expectAccessible(page);
  const ping = receiver.list('ping')[0];
  expect(ping?.fault).toBeNull();
});

test.skipIf(!HAS_CHROMIUM)('a receiver that fails is shown, with its answer', async () => {
  const receiver = closeAfterTest(await startReceiver());
  receiver.answer = refuseWith(500);
  const { page, ask, addInstance, goto } = await openConsole(OPTIONS);
  await addInstance();
  await ask('POST', '/subscriptions', { ...SUBSCRIPTION, url: receiver.url });
  await goto('/subscriptions/contacts');
  await page.getByRole('button', { name: 'Send ping' }).click();
  await page.getByText('The receiver did not take it').waitFor();
  await page.getByText('It answered with status 500').waitFor();
});

test.skipIf(!HAS_CHROMIUM)(
  'a delivery is sent again, and the state of deliveries stands in the address',
  async () => {
    const receiver = closeAfterTest(await startReceiver());
    const { page, ask, addInstance, goto } = await openConsole(OPTIONS);
    await addInstance();
    await ask('POST', '/subscriptions', {
      ...SUBSCRIPTION,
      url: receiver.url,
      start: 'all',
      interval_seconds: 5,
    });
    await expect.poll(() => receiver.list('res.partner.upserted').length).toBeGreaterThan(3);
    await goto('/subscriptions/contacts?tab=deliveries&state=delivered');
    const again = page.getByRole('button', { name: /^Send again msg_/ }).first();
    const name = (await again.getAttribute('aria-label')) ?? '';
    await again.click();
    await page.getByText('One delivery is sent again.').waitFor();
    await expectAccessible(page);
    const id = /msg_\w+/.exec(name)?.[0];
    await expect.poll(() => receiver.received.filter((delivery) => delivery.id === id).length).toBe(2);

    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText(/\d+ deliveries are sent again/).waitFor();
    await goto('/subscriptions/contacts?tab=deliveries&state=failed');
    await page.getByText('No delivery is failed.').waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'a subscription is paused with a reason, resumed, changed and removed',
  async () => {
    const { page, ask, addInstance, goto } = await openConsole(OPTIONS);
    await addInstance();
    await ask('POST', '/subscriptions', { ...SUBSCRIPTION, url: 'http://127.0.0.1:1234/hook' });
    await goto('/subscriptions/contacts');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('The shop is updated.');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The shop is updated.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('textbox', { name: 'Interval in seconds' }).fill('90');
    expect(await page.getByText('It begins anew').isVisible()).toBe(false);
    await page.getByRole('textbox', { name: 'Model' }).fill('res.users');
    await page.getByText('It begins anew').waitFor();
    await page.getByRole('textbox', { name: 'Model' }).fill('res.partner');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await ask('GET', '/subscriptions/contacts')).interval_seconds).toBe(90);

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    const shown = page.getByRole('dialog', { name: /The new secret/ });
    expect(await shown.locator('code').textContent()).toMatch(/^whsec_/);
    await shown.getByLabel('I have stored it').check();
    await shown.getByRole('button', { name: 'Close' }).click();
    expect((await ask('GET', '/subscriptions/contacts')).secrets).toHaveLength(2);

    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There are no subscriptions yet').waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)('a subscription tells of events of the proxy', async () => {
  const { page, ask, goto } = await openConsole(OPTIONS);
  await goto('/subscriptions/new');
  await page.getByRole('radio', { name: 'Events of the proxy' }).check();
  await page.getByRole('checkbox', { name: /^job\.ended/ }).check();
  await page.getByRole('textbox', { name: 'Name' }).fill('key-ends');
  await page.getByRole('textbox', { name: 'Receiver' }).fill('http://127.0.0.1:1234/hook');
  await page.getByRole('button', { name: 'Add subscription' }).click();
  const dialog = page.getByRole('dialog', { name: /The secret of key-ends/ });
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('a client key ends soon, or has ended; a job has ended').waitFor();
  const events = ['key.ends', 'job.ended'];
  expect(await ask('GET', '/subscriptions/key-ends')).toMatchObject({ events });
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByRole('textbox', { name: 'Interval in seconds' }).fill('90');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await ask('GET', '/subscriptions/key-ends')).interval_seconds).toBe(90);
  expect(await ask('GET', '/subscriptions/key-ends')).toMatchObject({ events });
});

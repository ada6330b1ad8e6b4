import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/src/index.ts';
import { expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

test.skipIf(!HAS_CHROMIUM)(
  'an instance is checked step by step, then stored, and its key is not shown',
  async () => {
    const { page, sandbox, ask } = await openConsole({ path: '/instances' });
    await page.getByText('There are no instances yet').waitFor();
    await page.getByRole('link', { name: 'Add instance' }).click();
    await fillServer(page, sandbox, { key: 'a-wrong-key' });
    await page.getByRole('button', { name: 'Check and add' }).click();
    await page.getByText('Calls to this server do not work yet.').waitFor();
    await expectAccessible(page);
    expect((await ask('GET', '/instances')).items).toEqual([]);

    await fillServer(page, sandbox);
    await page.getByRole('button', { name: 'Check and add' }).click();
    await page.getByText('Calls to this server work.').waitFor();
    await page.getByRole('button', { name: 'Show the instance' }).click();
    await page.getByRole('heading', { name: 'prod' }).waitFor();
    expect(await page.content()).not.toContain(sandbox.users.admin.apiKey);
    expect((await ask('GET', '/instances/prod')).url).toBe(sandbox.url);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Calls to this server work.').waitFor();
    await expectAccessible(page);
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'a server that does not answer can be stored after its check has failed',
  async () => {
    const { page, sandbox, ask } = await openConsole({ path: '/instances/new' });
    await fillServer(page, sandbox);
    await sandbox.close();
    await page.getByRole('button', { name: 'Check and add' }).click();
    await page.getByRole('button', { name: 'Add without a working check' }).click();
    await page.getByRole('button', { name: 'Show the instance' }).waitFor();
    expect((await ask('GET', '/instances')).items).toHaveLength(1);
  },
);

test.skipIf(!HAS_CHROMIUM)('without a master key, the page says which setting is missing', async () => {
  const { page, sandbox } = await openConsole({
    path: '/instances/new',
    hasMasterKey: false,
  });
  await fillServer(page, sandbox);
  await page.getByRole('button', { name: 'Check and add' }).click();
  await page.getByText('The vault needs a master key').waitFor();
  await page.getByText('ERP_PROXY_VAULT_MASTER_KEY').first().waitFor();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('prod');
});

/** Opens the form of an instance, and types a change without saving it. */
async function typeConcurrency() {
  const opened = await openConsole();
  const { page, addInstance, goto } = opened;
  await addInstance();
  await goto('/instances/prod?tab=settings');
  await page.getByRole('button', { name: 'More settings' }).click();
  await page.getByRole('textbox', { name: 'Calls at once' }).fill('4');
  return opened;
}

test.skipIf(!HAS_CHROMIUM)('a change is saved and checked; one of the address asks for the key', async () => {
  const { page, ask } = await typeConcurrency();
  await page.getByRole('button', { name: 'Save and check' }).click();
  await page.getByText('Calls to this server work.').waitFor();
  expect(await ask('GET', '/instances/prod')).toMatchObject({ concurrency: 4, version: 2 });

  await page.getByRole('textbox', { name: 'Address' }).fill('https://other.example.com');
  await page.getByText('Type the key again: the address changed').waitFor();
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)(
  'a change by somebody else is shown, and kept where mine does not touch it',
  async () => {
    const { page, ask } = await typeConcurrency();
    await ask('PATCH', '/instances/prod', { timeout_ms: 5_000 });
    await page.getByRole('button', { name: 'Save and check' }).click();
    await page.getByText('Their change does not touch what you have changed.').waitFor();
    await page.getByRole('button', { name: 'Save mine over theirs' }).click();
    await page.getByText('Calls to this server work.').waitFor();
    expect(await ask('GET', '/instances/prod')).toMatchObject({ concurrency: 4, timeout_ms: 5_000 });
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'a form of an instance that was removed and added again does not change the new one unasked',
  async () => {
    const { page, ask, addInstance } = await typeConcurrency();
    await ask('DELETE', '/instances/prod');
    await addInstance();
    await page.getByRole('button', { name: 'Save and check' }).click();
    await page.getByText('Somebody else has changed it meanwhile').waitFor();
    expect(await ask('GET', '/instances/prod')).toMatchObject({ concurrency: null, version: 1 });
    await page.getByRole('button', { name: 'Save mine over theirs' }).click();
    await page.getByText('Calls to this server work.').waitFor();
    expect(await ask('GET', '/instances/prod')).toMatchObject({ concurrency: 4, version: 2 });
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'removing asks first, and names the subscriptions that use the instance',
  async () => {
    const { page, ask, addInstance, goto } = await openConsole({ settings: { 'egress.allow': '127.0.0.1' } });
    await addInstance();
    const subscription = {
      instance: 'prod',
      model: 'res.partner',
      fields: ['name'],
      url: 'http://127.0.0.1:1234',
    };
    // More than one page of other subscriptions, which the search finds, too.
    await addInstance('prod-2');
    for (let index = 0; index < 501; index++) {
      const name = `a${index}`;
      await ask('POST', '/subscriptions', { ...subscription, instance: 'prod-2', name });
    }
    await ask('POST', '/subscriptions', { ...subscription, name: 'contacts' });
    await goto('/instances/prod');
    await page.getByRole('button', { name: 'Remove instance' }).click();
    const question = page.getByRole('dialog', { name: 'Remove instance' });
    await question.getByRole('link', { name: 'contacts' }).waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Remove instance' }).click();
    await page.getByRole('heading', { name: 'Instances' }).waitFor();
    expect((await ask('GET', '/instances')).items).toMatchObject([{ name: 'prod-2' }]);
  },
);

test.skipIf(!HAS_CHROMIUM)(
  'the Odoo key is replaced by Odoo 19, and an older one says that it cannot',
  async () => {
    const { page, sandbox, addInstance, goto, ask } = await openConsole({ sandbox: { version: 19 } });
    await addInstance();
    const isOld = async () =>
      (
        await ask('POST', '/instances/check', {
          ...describeServer(sandbox),
          api_key: sandbox.users.admin.apiKey,
        })
      ).ok;
    expect(await isOld()).toBe(true);
    await goto('/instances/prod');
    await page.getByRole('button', { name: 'Rotate Odoo key' }).click();
    const question = page.getByRole('dialog', { name: 'Rotate Odoo key' });
    await question.getByRole('button', { name: 'Rotate Odoo key' }).click();
    await question.waitFor({ state: 'hidden' });
    expect(await ask('POST', '/instances/prod/check')).toMatchObject({ ok: true });

    const older = await openConsole({ sandbox: { version: 17 } });
    await older.addInstance();
    await older.goto('/instances/prod');
    await older.page.getByRole('button', { name: 'Rotate Odoo key' }).click();
    const refused = older.page.getByRole('dialog', { name: 'Rotate Odoo key' });
    await refused.getByRole('button', { name: 'Rotate Odoo key' }).click();
    await refused.getByRole('alert').waitFor();
  },
);

function describeServer({ url, db, users }: Sandbox) {
  return { url, db, user_id: users.admin.userId };
}

async function fillServer(page: Page, { url, db, users: { admin } }: Sandbox, { key = admin.apiKey } = {}) {
  await page.getByRole('textbox', { name: 'Name' }).fill('prod');
  await page.getByRole('textbox', { name: 'Address' }).fill(url);
  await page.getByRole('textbox', { name: 'Database' }).fill(db);
  await page.getByRole('textbox', { name: 'User id' }).fill(String(admin.userId));
  await page.getByLabel('Odoo key', { exact: false }).first().fill(key);
}

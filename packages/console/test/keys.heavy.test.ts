import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { AUDIENCE, describeIssuer, startIssuer } from '../../server/test/tokens/issuer.ts';
import { ADMIN_TOKEN, expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';
import { waitForDrawing } from './visit-pages.ts';

const POLICY = { instances: ['prod'], models: { 'res.partner': ['search_read'] } };

test.skipIf(!HAS_CHROMIUM)('a key made from a template is shown once, and works', async () => {
  const { page, proxy, ask, addInstance, goto } = await openConsole();
  await addInstance();
  await goto('/keys');
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Web shop');
  await page.getByRole('button', { name: 'Shop', exact: true }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'The key of Web shop' });
  const text = (await dialog.locator('code').textContent()) ?? '';
  expect(text).toMatch(/^ep_/);
  expect(await page.evaluate('JSON.stringify(localStorage) + JSON.stringify(sessionStorage)')).not.toContain(
    text,
  );
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('heading', { name: 'Web shop' }).waitFor();
  await expectAccessible(page);
  expect(page.url()).not.toContain(text);

  const { json } = await proxy.call(
    {
      id: 1,
      action: 'search_read',
      model_id: 'res.partner',
      params: [[]],
      keyword: { fields: ['name'], limit: 1 },
      erp_instance: { name: 'prod' },
    },
    { 'x-proxy-api': text },
  );
  expect(json.result).toHaveLength(1);
  const { items } = await ask('GET', '/keys?search=Web%20shop');
  expect(items[0].policy).toMatchObject({ instances: ['prod'], read_only: true, limit_max: 200 });
});

test.skipIf(!HAS_CHROMIUM)('faults of a policy are shown while it is written', async () => {
  const { page } = await openConsole({ path: '/keys/new' });
  await writePolicy(page, '{ "instances": ["prod"], "models": {}, "limit_maxx": 5 }');
  await page
    .getByText(/did you mean/)
    .first()
    .waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('x');
  await writePolicy(page, '{ "instances": [');
  expect(await page.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
  await page.getByText(/works again once it is corrected/).waitFor();
});

test.skipIf(!HAS_CHROMIUM)('the form and the JSON of a policy stay in step', async () => {
  const { page, ask } = await openConsole();
  const key = await ask('POST', '/keys', { name: 'A', policy: { ...POLICY, per_day: 7 } });
  await page.goto(`${new URL(page.url()).origin}/keys/${key.id}?tab=policy`);
  await page.getByRole('switch', { name: 'Reads only' }).check();
  await page.getByRole('combobox', { name: 'Add model: name or pattern' }).fill('sale.order');
  await page.keyboard.press('Enter');
  await page.getByText('"sale.order"').waitFor();
  await page.keyboard.press('Escape');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save policy' }).click();
  await page.getByText('Not saved yet').waitFor({ state: 'hidden' });
  expect((await ask('GET', `/keys/${key.id}`)).policy).toEqual({
    ...POLICY,
    models: { ...POLICY.models, 'sale.order': ['read', 'search_read'] },
    per_day: 7,
    read_only: true,
  });
});

test.skipIf(!HAS_CHROMIUM)(
  'names come from an instance that was chosen, and no server is asked before',
  async () => {
    const { page, sandbox, addInstance, goto } = await openConsole();
    await addInstance('prod');
    await addInstance('other');
    await goto('/keys/new');
    const source = page.getByRole('combobox', { name: 'Complete names from' });
    await writePolicy(
      page,
      '{"instances":["prod"],"models":{"res.partner":["read"]},"fields":{"res.partner":{"deny":["phon"]}}}',
    );
    const editor = page.getByRole('textbox', { name: 'Policy' });
    await editor.getByText('phon').waitFor();
    // Completion of a field offers nothing, because no server is chosen.
    await placeCursorBehind(page, 'phon');
    await page.keyboard.press('Control+Space');
    await source.click();
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['prod']);
    expect(sandbox.requests.calls).toEqual({});

    await page.getByRole('option', { name: 'prod' }).click();
    await page.getByText(/^\d+ models$/).waitFor();
    // Fields are read for the model of the field rule.
    const asked = Object.keys(sandbox.requests.calls).sort();
    expect(asked).toEqual(['ir.model.search_read', 'res.partner.fields_get']);
    await expectAccessible(page);
    await placeCursorBehind(page, 'phon');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^phone/ }).click();
    await editor.getByText('"phone"').waitFor();

    // The form beside the editor completes names, too.
    await page.getByRole('combobox', { name: 'Fields of res.partner', exact: true }).fill('vat');
    await page.getByRole('option', { name: 'vat', exact: true }).click();
    await editor.getByText('"vat"').waitFor();
    await page.getByRole('combobox', { name: 'Add rule for fields: name or pattern' }).fill('res.country.st');
    await page.getByRole('option', { name: 'res.country.state' }).click();
  },
);

test.skipIf(!HAS_CHROMIUM)('a draft is tried on a call and on the calls of the last day', async () => {
  const { page, proxy, ask, addInstance, goto } = await openConsole();
  await addInstance();
  const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
  const call = { id: 1, action: 'search_read', model_id: 'res.partner', params: [[]] };
  for (let count = 0; count < 3; count++) {
    await proxy.call({ ...call, erp_instance: { name: 'prod' } }, { 'x-proxy-api': key.key });
  }
  await goto(`/keys/${key.id}?tab=policy`);
  await page.getByRole('tab', { name: 'Test a call' }).click();
  await page.getByText('Allowed', { exact: true }).waitFor();
  await writePolicy(page, '{ "instances": ["prod"], "models": { "res.partner": ["read"] } }');
  await page.getByText('Denied', { exact: true }).waitFor();
  await expectAccessible(page);

  await page.getByRole('tab', { name: 'Last day' }).click();
  // The audit is written some moments after the answer.
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: /^Compare/ }).click();
      return page.getByRole('status').filter({ hasText: 'calls since' }).textContent();
    })
    .toMatch(/^3 calls since .*, 3 of them denied/);
  const row = page.getByRole('row').filter({ hasText: 'search_read' });
  expect(await row.textContent()).toContain('denied');
  expect(await row.getByRole('link').first().getAttribute('href')).toMatch(/^\/calls\?request_id=/);
});

test.skipIf(!HAS_CHROMIUM)('a policy that somebody else has changed is not overwritten unseen', async () => {
  const { page, ask, goto } = await openConsole();
  const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
  await goto(`/keys/${key.id}?tab=policy`);
  await writePolicy(page, describe('mine'));
  await ask('PATCH', `/keys/${key.id}`, { policy: { ...POLICY, instances: ['theirs'] } });
  await page.getByRole('button', { name: 'Save policy' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'Somebody else has changed it' });
  // The alert shows the texts as in the editor.
  await conflict.getByRole('cell', { name: '"instances": ["theirs"]' }).waitFor();
  await conflict.getByRole('cell', { name: 'policy', exact: true }).waitFor();
  expect((await ask('GET', `/keys/${key.id}`)).policy.instances).toEqual(['theirs']);
  await expectAccessible(page);
  await conflict.getByRole('button', { name: 'Save mine over theirs' }).click();
  await conflict.waitFor({ state: 'hidden' });
  expect((await ask('GET', `/keys/${key.id}`)).policy.instances).toEqual(['mine']);
});

test.skipIf(!HAS_CHROMIUM)(
  'a change of the name by somebody else is no conflict with the policy',
  async () => {
    const { page, ask, goto } = await openConsole();
    const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
    await goto(`/keys/${key.id}`);
    await page.getByRole('textbox', { name: 'Name' }).fill('B');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'B', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Policy' }).click();
    await writePolicy(page, describe('mine'));
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Not saved yet').waitFor({ state: 'hidden' });
    expect(await ask('GET', `/keys/${key.id}`)).toMatchObject({ name: 'B', policy: { instances: ['mine'] } });
  },
);

test.skipIf(!HAS_CHROMIUM)('a policy that was typed survives the end of the session', async () => {
  let now = Date.now();
  const { page, ask, goto } = await openConsole({ clock: () => now });
  const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
  await goto(`/keys/${key.id}?tab=policy`);
  const checked = page.waitForResponse(/policies\/explain/);
  await writePolicy(page, describe('typed'));
  // Waits, so that the next request is the button's.
  await checked;
  now += 9 * 3_600_000;
  await page.getByRole('button', { name: 'Save policy' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.keyboard.press('Enter');
  await page.getByText('Not saved yet').waitFor({ state: 'hidden' });
  expect((await ask('GET', `/keys/${key.id}`)).policy.instances).toEqual(['typed']);
});

test.skipIf(!HAS_CHROMIUM)('a page with unsaved input asks before it is left', async () => {
  const { page } = await openConsole({ path: '/keys/new' });
  await page.getByRole('textbox', { name: 'Name' }).fill('half typed');
  await page.getByRole('link', { name: 'Instances' }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half typed');
  await page.getByRole('link', { name: 'Instances' }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Instances' }).waitFor();
});

test.skipIf(!HAS_CHROMIUM)(
  'a policy that was typed is kept, and asked about, behind another tab',
  async () => {
    const { page, ask, goto } = await openConsole();
    const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
    await goto(`/keys/${key.id}?tab=policy`);
    await writePolicy(page, describe('typed'));
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('link', { name: 'Instances' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('tab', { name: 'Policy' }).click();
    await page.getByText('"typed"').waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)('a key is rotated with an overlap, and revoked', async () => {
  const { page, ask, goto } = await openConsole();
  const key = await ask('POST', '/keys', { name: 'A', policy: POLICY });
  await goto(`/keys/${key.id}`);
  await page.getByRole('button', { name: 'Rotate key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click();
  const shown = page.getByRole('dialog', { name: 'The new key of A' });
  await shown.getByLabel('I have stored it').check();
  await shown.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('table', { name: 'Keys of this client' }).waitFor();
  const { items } = await ask('GET', '/keys?name=A');
  expect(items).toHaveLength(2);
  expect(items[0].expires_at).not.toBeNull();

  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
  await page.locator('header, main').getByText('revoked').first().waitFor();
  expect((await ask('GET', `/keys/${items[1].id}`)).state).toBe('revoked');
});

test.skipIf(!HAS_CHROMIUM)('filters and pages of the list stand in the address', async () => {
  const { page, ask, goto } = await openConsole();
  for (let number = 0; number < 60; number++) {
    await ask('POST', '/keys', { name: `Key ${String(number).padStart(2, '0')}`, policy: POLICY });
  }
  await goto('/keys?search=Key');
  await page.getByRole('link', { name: 'Key 00' }).waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('link', { name: 'Key 59' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Key 59' }).click();
  await page.getByRole('heading', { name: 'Key 59' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Key 59' }).waitFor();
  expect(await page.getByLabel('Search keys').inputValue()).toBe('Key');
});

test.skipIf(!HAS_CHROMIUM)('a subject that no issuer can have is refused with the reason', async () => {
  const { page } = await openConsole({ path: '/keys/denied-subjects' });
  await page.getByRole('textbox', { name: 'Subject' }).fill('corp/3f6c');
  await page.getByRole('button', { name: 'Deny subject' }).click();
  await page.getByRole('alert').filter({ hasText: 'auth.issuers' }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('corp/3f6c');
});

test.skipIf(!HAS_CHROMIUM)('a subject is denied, listed and allowed again', async () => {
  const issuer = closeAfterTest(await startIssuer());
  const { page, ask, goto } = await openConsole({
    settings: {
      'auth.issuers': JSON.stringify([describeIssuer(issuer)]),
      'http.publicUrl': AUDIENCE,
    },
  });
  await goto('/keys/denied-subjects');
  await page.getByRole('textbox', { name: 'Subject' }).fill('corp/3f6c');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'corp/3f6c' }).waitFor();
  expect((await ask('GET', '/denied-subjects')).items).toHaveLength(1);
  await page.getByRole('button', { name: 'Allow subject' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Allow subject' }).click();
  await page.getByText('No subject is denied.').waitFor();
  expect((await ask('GET', '/denied-subjects')).items).toEqual([]);
});

test.skipIf(!HAS_CHROMIUM)(
  'the completion of a policy knows its members, instances and methods',
  async () => {
    const { page, addInstance, goto } = await openConsole();
    await addInstance('my-instance');
    await goto('/keys/new');
    const complete = async (text: string, offered: string) => {
      await writePolicy(page, text);
      await page.keyboard.press('Control+End');
      // Moves the cursor into the last string.
      const back = text.length - text.lastIndexOf('"');
      for (let step = 0; step < back; step++) await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Control+Space');
      const option = page.locator('.cm-tooltip-autocomplete').getByText(offered, { exact: true });
      await option.click();
      await option.waitFor({ state: 'detached' });
      return page.getByRole('textbox', { name: 'Policy' }).innerText();
    };
    expect(await complete('{"instances": ["my"]}', 'my-instance')).toBe('{"instances": ["my-instance"]}');
    expect(await complete('{"instances": [""]}', 'my-instance')).toBe('{"instances": ["my-instance"]}');
    expect(await complete('{"models": {"res.partner": ["search_"]}}', 'search_read')).toBe(
      '{"models": {"res.partner": ["search_read"]}}',
    );
    expect(await complete('{""}', 'instances')).toBe('{"instances": }');
  },
);

test.skipIf(!HAS_CHROMIUM)('a policy of any form can be typed', async () => {
  const { page } = await openConsole({ path: '/keys/new' });
  const members = ['instances', 'origins', 'dbs', 'models', 'approve', 'unattended', 'fields', 'companies'];
  members.push('context', 'data', 'limit_max', 'rate', 'per_day', 'cidrs', 'read_only');
  for (const value of [null, '', 'x', 1, true, [], [null], [{}], {}, { 'res.partner': null }, { a: '' }]) {
    await writePolicy(page, JSON.stringify(Object.fromEntries(members.map((name) => [name, value]))));
    for (const tab of ['Test a call', 'Last day', 'Form']) await page.getByRole('tab', { name: tab }).click();
    await page.getByText('Models and methods').waitFor();
  }
});

/** Places the cursor after a text in the policy editor. */
async function placeCursorBehind(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Policy' }).getByText(text).click();
  await page.keyboard.press('End');
  const line = await page.getByRole('textbox', { name: 'Policy' }).innerText();
  const behind = line.length - line.indexOf(text) - text.length;
  for (let step = 0; step < behind; step++) await page.keyboard.press('ArrowLeft');
}

async function writePolicy(page: Page, text: string): Promise<void> {
  // The editor renders its lines again when its tab is shown, and may lose text that is written meanwhile.
  await waitForDrawing(page);
  await page.getByRole('textbox', { name: 'Policy' }).fill(text);
}

function describe(instance: string): string {
  return JSON.stringify({ ...POLICY, instances: [instance] });
}

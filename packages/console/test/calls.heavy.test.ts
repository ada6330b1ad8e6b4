/** Tests of the page Calls. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCall } from '@erp-proxy/control/testing';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { expectAccessible, HAS_CHROMIUM, type OpenConsole, openConsole } from './open-console.ts';

const READ = { action: 'search_read', model_id: 'res.partner', params: [[]], keyword: { limit: 1 } };
const INSTANCE = { erp_instance: { name: 'prod' } };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

async function openWithCalls(): Promise<OpenConsole> {
  const opened = await openConsole({ path: '/keys' });
  const { proxy, addInstance } = opened;
  await addInstance();
  await proxy.call({ ...READ, ...INSTANCE }, { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
  await proxy.call({ ...READ, ...INSTANCE, model_id: 'no.such.model' });
  await proxy.call(
    ['search', 'search_count'].map((action, id) => ({ id, ...READ, ...INSTANCE, action, keyword: {} })),
  );
  await proxy.app.audit.flush();
  return opened;
}

function listCalls(page: Page) {
  return page.getByRole('table', { name: 'Records' }).locator('tbody tr');
}

test.skipIf(!HAS_CHROMIUM)('filters are chips that stand in the address', async () => {
  const { page, goto } = await openWithCalls();
  await goto('/calls?kind=call');
  await expect.poll(() => listCalls(page).count()).toBe(4);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('menuitem', { name: 'Model' }).click();
  await page.getByLabel('Model', { exact: true }).fill('res.partner');
  await page.keyboard.press('Enter');
  await expect.poll(() => listCalls(page).count()).toBe(3);
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('menuitem', { name: 'Action' }).click();
  await page.getByLabel('Action', { exact: true }).fill('search_count');
  await page.keyboard.press('Enter');
  await expect.poll(() => listCalls(page).count()).toBe(1);
  await page.reload();
  await page.getByRole('button', { name: 'Action: search_count' }).waitFor();
  await expect.poll(() => listCalls(page).count()).toBe(1);
  await page.goBack();
  await expect.poll(() => listCalls(page).count()).toBe(3);
  await page.getByRole('button', { name: 'Remove the filter Model' }).click();
  await expect.poll(() => listCalls(page).count()).toBe(4);
  await page.getByRole('switch', { name: 'Errors only' }).click();
  await expect.poll(() => listCalls(page).count()).toBe(1);
  await page.getByText('no.such.model').waitFor();
});

test.skipIf(!HAS_CHROMIUM)(
  'shows a call with the meaning of its error, beside the list and as a page',
  async () => {
    const { page, goto } = await openWithCalls();
    await goto('/calls?outcome=model_not_found');
    await listCalls(page).getByText('no.such.model').click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('The database has no such model.').waitFor();
    await drawer.getByText(/until Odoo answered/).waitFor();
    await expectAccessible(page);
    await page.reload();
    await drawer.getByText('The database has no such model.').waitFor();
    const playground = await drawer.getByRole('link', { name: 'Open in playground' }).getAttribute('href');
    expect(playground).toBe('/playground?instance=prod&model=no.such.model&action=search_read');
    await drawer.getByRole('link', { name: 'Open as page' }).click();
    await page.getByRole('heading', { name: /^Record \d+$/ }).waitFor();
    await page.getByText('The database has no such model.').waitFor();
    await expectAccessible(page);
  },
);

test.skipIf(!HAS_CHROMIUM)('a call of a batch leads to the others of it', async () => {
  const { page, goto, ask } = await openWithCalls();
  const { items } = await ask('GET', '/audit?action=search_count');
  await goto(`/calls/${items[0].seq}`);
  const batch = page.getByRole('table', { name: 'Calls of the batch' });
  await batch.getByText('res.partner.search_count (this one)').waitFor();
  await batch.getByRole('link', { name: 'res.partner.search' }).click();
  await batch.getByText('res.partner.search (this one)').waitFor();
  await goto(`/calls/${items[0].request_id}`);
  await page.getByRole('heading', { name: 'Records of a request' }).waitFor();
  await expect.poll(() => page.getByRole('table', { name: 'Members of the call' }).count()).toBe(2);
});

test.skipIf(!HAS_CHROMIUM)('shows the names of keys, which it asks for at once', async () => {
  const { page, goto, proxy, ask } = await openConsole({ path: '/keys' });
  const made = [];
  for (const name of ['Shop', '<b>Report</b>']) made.push(await ask('POST', '/keys', { name }));
  for (const { key } of made) await proxy.call({ ...READ, ...INSTANCE }, { 'x-proxy-api': key });
  await proxy.call({ ...READ, ...INSTANCE }, { 'x-proxy-api': 'ep_0123456789abcdef_unknown' });
  await proxy.app.audit.flush();
  const asked: string[] = [];
  page.on('request', (request) => {
    // Counts these requests only: the page that is left may still ask for the list of keys.
    if (request.url().includes('/keys/names')) asked.push(new URL(request.url()).pathname);
  });
  await goto('/calls?kind=call');
  await listCalls(page).getByText('Shop').waitFor();
  const report = listCalls(page).getByText('<b>Report</b>');
  expect(await report.getAttribute('title')).toBe(`<b>Report</b> (key ${made[1].id})`);
  expect(asked).toEqual(['/admin/v1/keys/names']);
  await report.click();
  const members = page.getByRole('dialog').getByRole('table', { name: 'Members of the call' });
  await members.getByText('<b>Report</b>').waitFor();
  await members.getByRole('link', { name: made[1].id }).first().waitFor();
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)('a trace id becomes a link by the address that this browser keeps', async () => {
  const { page, goto, ask } = await openWithCalls();
  const { items } = await ask('GET', `/audit?trace_id=${TRACE}`);
  await goto(`/calls/${items[0].seq}`);
  await page.getByRole('button', { name: 'Set the address of the trace viewer' }).click();
  const address = page.getByLabel('Address of a trace');
  await address.fill('javascript:{trace_id}');
  expect(await page.getByRole('button', { name: 'Save address' }).isDisabled()).toBe(true);
  await address.fill('https://traces.example.com/{trace_id}');
  await page.keyboard.press('Enter');
  await page.reload();
  const link = page.getByRole('link', { name: 'Open trace' });
  expect(await link.getAttribute('href')).toBe(`https://traces.example.com/${TRACE}`);
});

test.skipIf(!HAS_CHROMIUM)('shows what an action changed, line by line', async () => {
  const { page, goto, ask } = await openConsole({ path: '/keys' });
  const policy = { instances: ['prod'], models: { 'res.partner': ['read'] } };
  const key = await ask('POST', '/keys', { name: 'Shop', policy });
  await ask('PATCH', `/keys/${key.id}`, {
    policy: { ...policy, models: { 'res.partner': ['read', 'search'] } },
  });
  await goto('/calls?action=key.update');
  await listCalls(page).getByRole('link').click();
  const changes = page.getByRole('dialog').getByRole('region', { name: 'Change of policy' });
  await expect.poll(() => changes.innerText()).toMatch(/added:\s*"search"/);
  expect(await changes.innerText()).toMatch(/^\s*"instances": \[/m);
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)(
  'follows new records, and holds still while the pointer is over them',
  async () => {
    const { page, goto, proxy } = await openWithCalls();
    const call = async (model: string) => {
      await proxy.call({ ...READ, ...INSTANCE, model_id: model });
      await proxy.app.audit.flush();
    };
    await goto('/calls?kind=call&live=true');
    await expect.poll(() => listCalls(page).count()).toBe(4);
    await call('res.users');
    await expect.poll(() => listCalls(page).first().innerText()).toContain('res.users');
    await listCalls(page).last().hover();
    await call('res.country');
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
    expect(await listCalls(page).count()).toBe(5);
    await expectAccessible(page);
    await page.mouse.move(0, 0);
    await expect.poll(() => listCalls(page).first().innerText()).toContain('res.country');
    expect(await page.getByRole('button', { name: 'Show 1 new' }).count()).toBe(0);
  },
);

test.skipIf(!HAS_CHROMIUM)('exports the search, and verifies the audit', async () => {
  const { page, goto } = await openWithCalls();
  await goto('/calls?model=no.such.model');
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'JSON lines (NDJSON)' }).click(),
  ]);
  const text = Buffer.concat(await (await download.createReadStream()).toArray()).toString();
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).model),
  ).toEqual(['no.such.model']);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('button', { name: 'Verify audit' }).click();
  await page.getByText('The audit is intact').waitFor();
  await expectAccessible(page);
});

test.skipIf(!HAS_CHROMIUM)(
  'finds rare records among 100,000, page by page, and stays responsive',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-calls-'));
    closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
    const { page, goto, proxy } = await openConsole({
      path: '/keys',
      settings: { 'store.url': `sqlite:${join(folder, 'proxy.db')}` },
    });
    const hostile = `<img src=x onerror=alert(1)>${'x'.repeat(10_000)}`;
    for (let count = 0; count < 100_000; count++) {
      proxy.app.audit.recordCall(
        makeCall({
          requestId: `request-${count}`,
          model: count === 10 ? 'rare.model' : `model.${count % 7}`,
          method: count % 1_000 === 0 ? hostile : 'read',
        }),
      );
      if (count % 10_000 === 9_999) await proxy.app.audit.flush();
    }
    await goto('/calls?kind=call');
    await expect.poll(() => listCalls(page).count()).toBe(100);
    await page.getByRole('button', { name: 'Older' }).click();
    await expect.poll(() => page.url()).toContain('cursor=');
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByRole('button', { name: 'Follow live' }).click();
    await expect.poll(() => listCalls(page).count()).toBeGreaterThanOrEqual(100);
    // The page has a bounded size, whatever the number of records and the length of their texts.
    expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(100_000);
    expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(10_000);

    await goto('/calls?model=rare.model');
    await expect.poll(() => page.getByRole('status').innerText()).toMatch(/searched/);
    // A search stops after two seconds, in which a busy machine may search a part of the records only.
    await expect
      .poll(async () => {
        if ((await listCalls(page).count()) > 0) return true;
        await page.getByRole('button', { name: 'Older' }).dispatchEvent('click');
        return false;
      })
      .toBe(true);
    await listCalls(page).getByText('rare.model.read').waitFor();
    await expect.poll(() => page.getByRole('status').innerText()).toMatch(/^1 record; /);
    await expect
      .poll(async () => {
        const text = await page.getByRole('status').innerText();
        if (text.endsWith('; all of this time was searched.')) return true;
        await page.getByRole('button', { name: 'Older' }).dispatchEvent('click');
        return false;
      })
      .toBe(true);
  },
);

import { expect, test } from 'vitest';
import { expectAccessible, HAS_CHROMIUM, type OpenConsole, openConsole } from './open-console.ts';

const POLICY = {
  instances: ['prod'],
  models: { 'res.partner': ['read', 'create', 'write', 'unlink'] },
  approve: { 'res.partner': ['create', 'write', 'unlink'] },
};

test.skipIf(!HAS_CHROMIUM)(
  'a call that waits is shown as what it would do, approved, and can be sent',
  async () => {
    const opened = await openConsole();
    const { page, proxy, addInstance, goto } = opened;
    await addInstance();
    const made = await proxy.call({
      id: 1,
      action: 'create',
      model_id: 'res.partner',
      params: [{ name: 'To be deleted' }],
      erp_instance: { name: 'prod' },
    });
    const id: number = made.json.result;
    const asked = await askForApproval(opened, { action: 'unlink', params: [[id]] });
    await goto('/approvals');
    await page.getByRole('link', { name: /unlink/ }).click();
    await page.getByText(`Deletes the record ${id} of res.partner`).first().waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Approve call' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve call' }).click();
    await page.getByText('It was approved by').waitFor();
    expect((await asked.send({ 'x-approval': asked.id })).result).toBe(true);
    await goto('/approvals?state=used');
    await page.getByRole('link', { name: /unlink/ }).waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)('a refusal gives the caller the reason', async () => {
  const opened = await openConsole();
  const { page, goto } = opened;
  const asked = await askForApproval(opened, { action: 'unlink', params: [[7]] });
  await goto(`/approvals/${asked.id}`);
  await page.getByRole('button', { name: 'Refuse call' }).click();
  await page.getByRole('textbox', { name: 'Reason' }).fill('Archive it\ninstead.');
  await page.getByRole('dialog').getByRole('button', { name: 'Refuse call' }).click();
  await page.getByText('It was refused by').waitFor();
  await page.getByText('They are deleted.').waitFor();
  await expectAccessible(page);
  expect((await asked.send({ 'x-approval': asked.id })).error.message).toContain('Archive it instead.');
});

test.skipIf(!HAS_CHROMIUM)(
  'a call that somebody else has decided says so, and shows the decision',
  async () => {
    const opened = await openConsole();
    const { page, ask, goto } = opened;
    const asked = await askForApproval(opened, { action: 'unlink', params: [[7]] });
    await goto(`/approvals/${asked.id}`);
    await page.getByRole('button', { name: 'Refuse call' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('no');
    await ask('POST', `/approvals/${asked.id}/approve`);
    await page.getByRole('dialog').getByRole('button', { name: 'Refuse call' }).click();
    await page.getByText('It was approved by').waitFor();
    await page.getByRole('alert').filter({ hasText: 'Conflict' }).waitFor();
  },
);

test.skipIf(!HAS_CHROMIUM)('two clicks at once decide once', async () => {
  const opened = await openConsole();
  const { page, ask, goto } = opened;
  const asked = await askForApproval(opened, { action: 'unlink', params: [[7]] });
  await goto(`/approvals/${asked.id}`);
  await page.getByRole('button', { name: 'Approve call' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve call' }).dblclick();
  await page.getByText('It was approved by').waitFor();
  const { items } = await ask('GET', '/audit?kind=admin&action=approval.approve');
  expect(items).toHaveLength(1);
});

test.skipIf(!HAS_CHROMIUM)(
  'hostile values are shown as data, and large ones do not freeze the page',
  async () => {
    const opened = await openConsole({ settings: { 'approvals.callBytesMax': '1MiB' } });
    const { page, goto } = opened;
    const name = `<img src=x onerror="document.title='owned'"> \u202egnp.exe`;
    const asked = await askForApproval(opened, {
      action: 'create',
      params: [{ name, comment: 'x'.repeat(900_000) }],
    });
    await goto(`/approvals/${asked.id}`);
    await page.getByText('Creates a record of res.partner with name, comment').first().waitFor();
    const shown = await page.getByRole('region', { name: 'positional arguments' }).textContent();
    expect(shown).toContain('<img src=x');
    expect(shown).toContain('\\u202e');
    expect(shown?.length).toBeLessThan(10_000);
    await page.getByText('Show more').click();
    await page.getByRole('button', { name: 'Copy positional arguments' }).click();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(JSON.parse(copied)).toEqual([{ name, comment: 'x'.repeat(900_000) }]);
    expect(await page.title()).toBe('Approval · erp-proxy');
    expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(100_000);
  },
);

/** Makes a call that then waits for an approval. */
async function askForApproval(
  { ask, proxy, addInstance }: OpenConsole,
  call: { action: string; params: unknown },
) {
  if ((await ask('GET', '/instances')).items.length === 0) await addInstance();
  const { key } = await ask('POST', '/keys', { name: 'agent', policy: POLICY });
  const send = async (headers: Record<string, string> = {}) => {
    const body = { id: 1, model_id: 'res.partner', ...call, erp_instance: { name: 'prod' } };
    return (await proxy.call(body, { 'x-proxy-api': key, ...headers })).json;
  };
  const id: string = (await send()).error.data.approval;
  return { id, send };
}

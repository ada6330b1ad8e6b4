import { expect, test } from 'vitest';
import { expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

test.skipIf(!HAS_CHROMIUM)('jobs are listed by their state, and one is cancelled', async () => {
  const { page, proxy, ask, goto, addInstance } = await openConsole();
  await addInstance();
  const call = { action: 'read', model_id: 'res.partner', params: [[9]], erp_instance: { name: 'prod' } };
  const start = async (id: number) =>
    (await proxy.call({ id, ...call }, { prefer: 'respond-async' })).json.id;
  const done = await start(1);
  await expect.poll(async () => (await ask('GET', `/jobs/${done}`)).state).toBe('done');
  const hung = await proxy.app.store.jobs.add(
    { ...JOB, client: 'c', key: (await ask('GET', '/keys')).items[0].id },
    { clientMax: 9, waitingMax: 9, bytesMax: 1e9 },
  );
  expect(hung).toMatchObject({ state: 'queued' });
  await proxy.app.store.jobs.claim('another process', 3_600_000, 9, Date.now());
  await goto('/jobs');
  await page.getByText(done).waitFor();
  await page.getByText('res.partner · search_read').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: `Cancel ${JOB.id}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
  await page.getByText('being cancelled').waitFor();
  expect(await ask('GET', `/jobs/${JOB.id}`)).toMatchObject({ state: 'running', cancel_requested: true });
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'done' }).click();
  await page.getByText('res.partner · search_read').waitFor({ state: 'detached' });
  await page.getByText(done).waitFor();
  expect(page.url()).toContain('state=done');
});

/** A job that another process seems to run. */
const JOB = {
  id: '6e1c2f1e-95a5-4e0e-8a2c-0d6f2f0c3b52',
  route: 'export',
  requestId: 'r',
  facts: '{"instance":"prod","model":"res.partner","action":"search_read"}',
  secret: '',
  name: null,
  fingerprint: '',
  callback: null,
  body: [],
  createdAt: 1_800_000_000_000,
};

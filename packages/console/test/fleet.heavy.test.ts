import { expect, test } from 'vitest';
import { addInstance, openFleet, readReply } from '../../server/test/fleet/fleet-stage.ts';
import { expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

const INSTANCES = 500;

test.skipIf(!HAS_CHROMIUM)(
  'shows 500 instances, those in trouble first, and filters them by tag',
  async () => {
    const { page, proxy, sandbox, goto } = await openConsole({ path: '/instances' });
    for (let index = 0; index < INSTANCES; index++) {
      const name = `client-${String(index).padStart(3, '0')}`;
      const tags = [index % 2 === 0 ? 'production' : 'staging', ...(index % 10 === 0 ? ['eu'] : [])];
      const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
      await addInstance(proxy, sandbox.url, name, { db: sandbox.db, user_id, api_key, tags });
    }
    // Only calls that were answered introduce the names of the statistics.
    const count = { action: 'search_count', model_id: 'res.partner', params: [[]] };
    await readReply(await openFleet(proxy, { call: count, instances: ['client-49*'] }));
    const call = { ...count, params: [[['no_such_field', '=', 1]]] };
    const { counts } = await readReply(await openFleet(proxy, { call, instances: ['client-49*'] }));
    expect(counts.failed).toBe(10);
    await goto('/fleet');
    await page.getByText(`${INSTANCES} instances`).waitFor();
    const rows = page.getByRole('table', { name: 'Fleet' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(INSTANCES + 1);
    await page.getByText('10 with errors').waitFor();
    expect(await rows.nth(1).innerText()).toContain('client-49');
    await page.getByRole('combobox', { name: 'Tag' }).click();
    await page.getByRole('option', { name: 'eu' }).click();
    await expect.poll(() => rows.count()).toBe(INSTANCES / 10 + 1);
    await page.getByRole('searchbox', { name: 'Search instances' }).fill('client-04');
    await expect.poll(() => rows.count()).toBe(2);
    await expectAccessible(page);
  },
);

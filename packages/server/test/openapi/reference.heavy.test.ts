/** The reference page at /docs sends requests with the reader's key, in Chromium. */
import { expect, test } from 'vitest';
import { HAS_CHROMIUM, openInChromium } from '../chromium.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { startShop } from '../examples/shop.ts';

test.skipIf(!HAS_CHROMIUM)(
  'sends requests in Chromium, and says which key it needs (skipped where Chromium is not installed)',
  async () => {
    const { proxy, odoo } = closeAfterTest(await startShop());
    const policy = { instances: ['prod'], models: { 'res.partner': ['*'] }, cors_origins: [proxy.url] };
    const { key } = await proxy.app.keys.create({ name: 'page', policy });
    const page = closeAfterTest(await openInChromium(`${proxy.url}/docs`));
    await page.waitFor("document.querySelector('#execute textarea') !== null");
    expect(await page.evaluate("document.querySelector('#origin').textContent")).toBe(proxy.url);
    const call = JSON.stringify({
      model_id: 'res.partner',
      action: 'read',
      params: [[9], ['name']],
      erp_instance: { name: 'prod' },
    });
    const send = async (used: string) => {
      await page.evaluate(`
        document.querySelector('#client-key').value = ${JSON.stringify(used)};
        document.querySelector('#execute textarea').value = ${JSON.stringify(call)};
        document.querySelector('#execute form').requestSubmit();`);
      await page.waitFor("!document.querySelector('#execute form button').disabled");
      return await page.evaluate("document.querySelector('#execute [role=status]').textContent");
    };
    const answer = await send(key);
    expect(answer).toMatch(/^Status 200.*"Wood Corner"/s);
    expect(answer).toContain('x-proxy-api: $ERP_PROXY_KEY');
    expect(await send(proxy.key)).toContain(`Use a key whose policy has "cors_origins": ["${proxy.url}"]`);
    expect(odoo.requests.calls['res.partner.read']).toBe(1);
  },
);

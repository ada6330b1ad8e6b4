/** Tests that the reference page at /docs sends requests with the reader's key, in Chromium. */
import { expect, test } from 'vitest';
import { HAS_CHROMIUM, openInChromium } from '../chromium.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { startShop } from '../examples/shop.ts';
import { makeFolder, startProgram } from '../process/program.ts';

test.skipIf(!HAS_CHROMIUM)(
  'sends its own example with the key of the demo, which its link has (skipped where Chromium is not installed)',
  async () => {
    const demo = startProgram(['demo', '--http.port=0'], { folder: makeFolder() });
    const [, link] = await demo.waitFor(/^ {2}(http\S+\/docs#key=\S+)$/m);
    const page = closeAfterTest(await openInChromium(link as string));
    await page.waitFor("document.querySelector('#execute textarea') !== null");
    // The key is removed from the address, so that it is not in the history of the browser.
    expect(await page.evaluate('location.hash')).toBe('');
    await page.evaluate("document.querySelector('#execute form').requestSubmit()");
    await page.waitFor("document.querySelector('#execute [role=status] [aria-label=Answer]') !== null");
    const answer = await page.evaluate("document.querySelector('#execute [role=status]').textContent");
    expect(answer).toMatch(/^Status 200.*"result"/s);
    const key = (link as string).split('#key=')[1];
    const body = { action: 'read', model_id: 'res.partner', params: [[1]] };
    // The key of the link is of no use elsewhere.
    const refused = await fetch((link as string).replace(/docs#.*/, 'api/erp/execute'), {
      method: 'POST',
      headers: { 'x-proxy-api': key as string, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        erp_instance: { url: 'http://127.0.0.1:1', db: 'a', user_id: 2, api_key: 'x' },
      }),
    });
    expect(await refused.json()).toMatchObject({ error: { data: { type: 'policy_denied' } } });
    demo.kill('SIGINT');
    expect((await demo.ended).status).toBe(0);
  },
);

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

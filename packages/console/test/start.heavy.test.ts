import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { HAS_TERMINAL, makeFolder, printLine, startOnTerminal } from '../../server/test/process/program.ts';
import { PATIENCE_MS, shareChromium } from './launch-chromium.ts';
import { expectAccessible, HAS_CHROMIUM, openConsole } from './open-console.ts';

/** Returns the texts of all tabs of “As code”, and expects no secret in them. */
async function readCode(page: Page, which: 'first' | 'last' = 'first'): Promise<string> {
  await page.getByRole('button', { name: 'As code' })[which]().click();
  const dialog = page.getByRole('dialog');
  const texts: string[] = [];
  for (const name of ['curl', 'Command', 'TypeScript']) {
    await dialog.getByRole('tab', { name }).click();
    texts.push(await dialog.getByRole('tabpanel', { name }).innerText());
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  const text = texts.join('\n');
  expect(text).not.toContain(SANDBOX_KEY_PART);
  return text;
}

/** A part of the key of the sandbox. */
const SANDBOX_KEY_PART = '1'.repeat(28);

/** Each test goes through a page as a person would. */

test.skipIf(!HAS_CHROMIUM)('five steps lead from nothing to an answer and its code', async () => {
  const { page, sandbox, ask } = await openConsole({ path: '/start' });
  const { userId, apiKey } = sandbox.users.admin;
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('Choose a short name').waitFor();
  await expectAccessible(page);

  // The button fills in the values of the sandbox, with the port of this one.
  await page.getByRole('button', { name: 'Fill in its values' }).click();
  expect(await page.getByLabel('API key').first().inputValue()).toBe(apiKey);
  expect(await page.getByRole('textbox', { name: 'User id' }).inputValue()).toBe(String(userId));
  await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:1');
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('check host and port').waitFor();
  await page.getByRole('button', { name: 'Change the values' }).click();
  await page.getByRole('textbox', { name: 'URL' }).fill(sandbox.url);
  expect(await readCode(page)).toContain(`doctor ${sandbox.url} --db sandbox`);
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('Calls run as Mitchell Admin').waitFor();
  expect(await readCode(page, 'last')).toContain('instances add sandbox');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save the server' }).click();

  await page.getByRole('radio', { name: 'Reporting' }).check();
  await expectAccessible(page);
  expect(await readCode(page)).toMatch(/keys create --name Reporting --policy - <<'END'\n\{\n/);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new key' });
  const secret = await dialog.locator('code').innerText();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();

  const { items: made } = await ask('GET', '/keys?search=Reporting');
  const code = await readCode(page);
  expect(code).toContain(`"key_id": "${made[0].id}"`);
  expect(code).not.toContain(secret);
  await page.getByRole('button', { name: 'Make the call' }).click();
  await page.getByText('OK · 200').waitFor();
  await page.getByText('"amount_total"').first().waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Get the code' }).click();
  await page.getByText('sale.order').first().waitFor();
  expect(page.url()).not.toContain(secret);
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
    apiKey,
  );

  // Runs the code of the page with the key.
  const curl = await page.getByRole('region', { name: 'curl' }).innerText();
  const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace('curl', 'curl -s')], {
    env: { ...process.env, ERP_PROXY_KEY: secret },
  });
  expect(JSON.parse(stdout).result).toHaveLength(3);
  const { items } = await ask('GET', '/keys?search=Reporting');
  expect(items).toMatchObject([{ name: 'Reporting', policy: { instances: ['sandbox'], cache: true } }]);
});

test.skipIf(!HAS_CHROMIUM)('the start goes on after a reload, and with an instance that exists', async () => {
  const { page, addInstance, goto } = await openConsole({ width: 360, colorScheme: 'dark' });
  await addInstance('demo');
  await goto('/start');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The key works for the instance demo only.').waitFor();
  await page.reload();
  await page.getByText('The key works for the instance demo only.').waitFor();
  await expectAccessible(page);

  // A refused policy stays in the editor, with its faults marked.
  await page.getByRole('button', { name: 'Show and edit the policy' }).click();
  await page
    .getByRole('textbox', { name: 'Policy' })
    .fill('{"instances": ["demo"], "models": {"*": ["*"]}, "limit_max": "x"}');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Line 1: limit_max').waitFor();
  await expectAccessible(page);

  // A link to a later step leads to the first unfinished one.
  await goto('/start?step=code');
  await page.getByRole('button', { name: 'Test the connection' }).waitFor();
});

test.skipIf(!HAS_CHROMIUM || !HAS_TERMINAL)(
  'a first start leads to an answer by clicks alone, with the sandbox',
  async () => {
    const program = startOnTerminal(printLine(['serve', '--http.port=0']), { folder: makeFolder() });
    const [link = ''] = await program.waitFor(/http:\/\/127\.0\.0\.1:\d+\/sign-in#code=[\w.-]+/);
    const browser = await shareChromium();
    const context = closeAfterTest(await browser.newContext());
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('link', { name: 'Get started' }).click();
    await page.getByRole('button', { name: 'Start the sandbox' }).click();
    await page.getByText('The key works for the instance sandbox only.').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Make the call' }).click();
    await page.getByText('OK · 200').waitFor();
    await page.getByRole('button', { name: 'Get the code' }).click();
    await page.getByRole('region', { name: 'curl' }).waitFor();

    // The running sandbox is not offered a second time.
    await page.goto(new URL('/start', link).href);
    await page.getByText('Use a stored instance').waitFor();
    await page.getByText('npx erp-proxy sandbox').waitFor();
    expect(await page.getByRole('button', { name: 'Start the sandbox' }).count()).toBe(0);
    program.kill('SIGTERM');
    await program.ended;
  },
);

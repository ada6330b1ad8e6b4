/** Operators sign in by a real OpenID provider (oidc-provider), which puts groups in the user info only. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { startRealProvider } from './real-provider.ts';
import { Browser, describeOperators, PUBLIC_URL } from './scripted-provider.ts';

/** Follows the redirects of the provider. Returns the path at which the provider sends the browser back. */
async function consent(browser: Browser, sub: string): Promise<string> {
  const cookies = new Map<string, string>();
  const { headers } = await browser.ask('/admin/v1/session/start');
  let address = String(headers.location);
  for (let steps = 0; steps < 10; steps++) {
    if (address.startsWith(PUBLIC_URL)) return address.slice(PUBLIC_URL.length);
    if (/\/interaction\/[\w-]+$/.test(address)) address += `/${sub}`;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(address, { headers: { cookie } });
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    if (answer.headers.location === undefined) throw new Error(answer.body.toString());
    address = new URL(answer.headers.location, address).href;
  }
  throw new Error('The provider redirects without end.');
}

test('signs in, is renewed once by two proxies, and ends when the person is removed', async () => {
  const provider = await startRealProvider(`${PUBLIC_URL}/admin/v1/session/callback`);
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const time = { passedMs: 0 };
  const startOne = async () =>
    closeAfterTest(
      await startProxy({
        clock: () => Date.now() + time.passedMs,
        settings: describeOperators(provider, { 'store.url': `sqlite:${join(folder, 'proxy.db')}` }),
      }),
    );
  const [one, two] = [await startOne(), await startOne()];
  const browser = new Browser(one);
  const back = await consent(browser, 'ada');
  expect(new URLSearchParams(back.split('?')[1]).get('iss')).toBe(provider.url);
  expect((await browser.ask(back)).headers.location).toBe(`${PUBLIC_URL}/`);
  expect((await browser.session()).json).toMatchObject({
    actor: { id: 'corp/ada', name: 'ada of corp' },
    role: 'admin',
  });

  // The code and the answer work once, in any browser.
  const other = new Browser(two);
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  expect((await other.ask(back)).headers.location).toContain('problem=expired');

  // The provider ends all tokens of the sign-in if a refresh token is used twice.
  for (const groups of [['erp-sales'], ['erp-admins']]) {
    provider.persons.set('ada', groups);
    time.passedMs += 61 * 60_000;
    const answers = await Promise.all([one, two, one, two].map((proxy) => browser.session(proxy)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const role = groups.includes('erp-admins') ? 'admin' : 'viewer';
    expect(new Set(answers.map(({ json }) => json.role))).toEqual(new Set([role]));
  }

  provider.persons.delete('ada');
  expect((await browser.session(two)).status).toBe(200);
  time.passedMs += 61 * 60_000;
  expect((await browser.session(two)).status).toBe(401);
});

/** Two replicas with one store, behind a load balancer that sends each request to the other one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startScriptedProvider } from '../operators/scripted-provider.ts';
import { Application, Browser } from './application.ts';
import { allow, findFreePort, listTools, readKeys, signIn, startStage } from './stage.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

async function openFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-sign-in-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
  return `sqlite:${join(folder, 'store.db')}`;
}

async function openSchema(): Promise<string> {
  const schema = await createTestSchema(SERVER_URL);
  closeAfterTest({ close: schema.drop });
  return schema.url;
}

const STORES = [
  ['SQLite', openFile],
  ['PostgreSQL', openSchema],
] as const;

test.skipIf(SERVER_URL === '').each(STORES)('serve one sign-in together (%s)', async (_, openStore) => {
  const settings = { 'store.url': await openStore() };
  const provider = await startScriptedProvider();
  const skew = { ms: 0 };
  const one = await startStage({ provider, settings });
  const port = await findFreePort();
  const two = await startStage({
    provider,
    clock: () => Date.now() + skew.ms,
    settings: { ...settings, 'http.port': String(port), 'http.publicUrl': one.url },
  });
  let count = 0;
  const route = (url: string) => {
    if (!url.startsWith(one.url)) return url;
    count += 1;
    return count % 2 === 0 ? url : url.replace(one.url, two.proxy.url);
  };
  const application = new Application(one.url);
  await application.register();
  const browser = new Browser();
  browser.route = route;
  browser.stopsAt.push(application.redirectUri);
  const page = await signIn(one, browser, application.address());
  const { url } = await browser.submit(page, { answer: 'allow' });
  expect(count).toBeGreaterThan(5);

  // The code is used once, over both.
  const code = {
    grant_type: 'authorization_code',
    code: new URL(url).searchParams.get('code') ?? '',
    redirect_uri: application.redirectUri,
    code_verifier: application.verifier,
  };
  const { json } = await application.askToken(code, two.proxy.url);
  const both = async (token: string) => [
    (await listTools({ url: one.url }, token)).status,
    (await listTools({ url: two.proxy.url }, token)).status,
  ];
  // A clock that is behind by less than a minute does not matter.
  skew.ms = -50_000;
  expect(await both(json.access_token)).toEqual([200, 200]);
  const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token };
  const next = (await application.askToken(refresh, one.url)).json;
  expect(await both(next.access_token)).toEqual([200, 200]);

  // A refresh token that both get at once ends the family on both.
  const again = { ...refresh, refresh_token: next.refresh_token };
  const answers = await Promise.all([one.url, two.proxy.url].map((at) => application.askToken(again, at)));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  await expect.poll(() => both(next.access_token)).toEqual([401, 401]);
});

test.skipIf(SERVER_URL === '').each(STORES)(
  'make one signing key that both accept (%s)',
  async (_, openStore) => {
    const settings = { 'store.url': await openStore() };
    const provider = await startScriptedProvider();
    const one = await startStage({ provider, settings });
    const port = await findFreePort();
    const two = await startStage({
      provider,
      settings: { ...settings, 'http.port': String(port), 'http.publicUrl': one.url },
    });
    await Promise.all([readKeys(one.url), readKeys(two.proxy.url)]);
    const stored = await one.proxy.app.store.signInObjects.list('signing-key');
    expect(stored.length).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(stored)).not.toContain('"d"');
  },
);

test.skipIf(SERVER_URL === '').each(STORES)(
  'ask the provider once, however many want to know (%s)',
  async (_, openStore) => {
    const settings = { 'store.url': await openStore() };
    const provider = await startScriptedProvider();
    const time = { passedMs: 0 };
    const clock = () => Date.now() + time.passedMs;
    provider.now = () => Math.floor(clock() / 1000);
    const one = await startStage({ provider, clock, settings });
    const port = await findFreePort();
    const two = await startStage({
      provider,
      clock,
      settings: { ...settings, 'http.port': String(port), 'http.publicUrl': one.url },
    });
    const { application, tokens } = await allow(one);
    time.passedMs = 61 * 60_000;
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    await Promise.all([one.url, two.proxy.url].map((at) => application.askToken(refresh, at)));
    expect(provider.asked.filter((asked) => asked.has('refresh_token'))).toHaveLength(1);
    // The consent ends because the application has used its token twice, and not because the provider has refused one.
    const ends = [one, two].flatMap(({ proxy }) =>
      proxy.log.filter(({ msg }) => msg === 'application ended').map(({ reason }) => reason),
    );
    expect(ends).toEqual([expect.stringContaining('twice')]);
  },
);

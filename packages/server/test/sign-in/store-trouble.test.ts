/** A store that fails for a time: applications and persons are told to try again, and nothing is lost. */
import { createTestSchema } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { Application, Browser } from './application.ts';
import { allow, listTools, signIn, startStage } from './stage.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

test.skipIf(SERVER_URL === '')('answers 503 until the store is back', async () => {
  const schema = await createTestSchema(SERVER_URL);
  closeAfterTest({ close: schema.drop });
  const stage = await startStage({ settings: { 'store.url': schema.url } });
  const { application, tokens } = await allow(stage);
  const browser = new Browser();
  browser.stopsAt.push(application.redirectUri);
  const page = await signIn(stage, browser, application.address());
  const refresh = () => application.refresh(tokens.refresh_token);

  await schema.query('ALTER TABLE sign_in_objects RENAME TO away');
  const unavailable = {
    error: 'temporarily_unavailable',
    error_description: expect.stringContaining('store'),
  };
  for (const { status, headers, body } of [
    await refresh(),
    await application.revoke(tokens.refresh_token),
    await new Application(stage.url).register(),
  ]) {
    expect([status, JSON.parse(body.toString())]).toEqual([503, unavailable]);
    expect(headers['retry-after']).toBe('5');
  }
  const begin = await new Browser().go(application.address({ client_id: 'unknown' }));
  expect([begin.status, begin.text]).toEqual([
    503,
    expect.stringContaining('The store of the proxy does not'),
  ]);
  expect((await browser.go(page.url)).status).toBe(503);
  expect((await browser.submit(page, { answer: 'allow' })).status).toBe(503);

  await schema.query('ALTER TABLE away RENAME TO sign_in_objects');
  const { status, json } = await refresh();
  expect(status).toBe(200);
  expect((await listTools(stage, json.access_token)).status).toBe(200);
  expect((await browser.submit(page, { answer: 'allow' })).url).toContain(application.redirectUri);
});

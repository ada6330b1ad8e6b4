/** Runs every example of the OpenAPI document against the sandbox, whose answer must be the documented one. */

import { CALL_ROUTES } from '@erp-proxy/http/testing';
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';

const EXAMPLES = CALL_ROUTES.flatMap(({ path, examples = [] }) =>
  examples.map((example) => ({ ...example, path })),
);

test.each(EXAMPLES)('$path: $name', async ({ path, body, answer }) => {
  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const proxy = closeAfterTest(
    await startProxy({
      allow: [sandbox.url],
      settings: { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') },
    }),
  );
  const { apiKey, userId } = sandbox.users.admin;
  const { url, db } = sandbox;
  await proxy.app.instances.add({
    name: 'prod',
    url,
    db,
    user_id: userId,
    api_key: apiKey,
    allow_private: true,
  });
  const sent = JSON.stringify(body)
    .replaceAll('https://odoo.example.com', url)
    .replaceAll('"db":"prod"', `"db":"${db}"`)
    .replaceAll('<Odoo key>', apiKey);
  const received = await send(proxy.url + path, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json' },
    body: sent,
  });
  expect(JSON.parse(received.body.toString())).toEqual(answer);
  expect(received.status).toBe(200);
});

test('each method that the docs name most has an example', () => {
  const names = EXAMPLES.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      ...['search', 'search_count', 'read', 'search_read', 'read_group', 'name_search', 'fields_get'],
      ...['create', 'write', 'copy', 'unlink', 'call_method', 'batch', 'version'],
    ]),
  );
});

/**
 * Tests the OpenAPI document with other programs: Redocly's linter accepts it, and a client that openapi-typescript
 * generates from it compiles and makes calls. Needs the npm registry, or a cache that has the packages in
 * scripts/openapi-tools.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderOpenapi } from '@erp-proxy/http/openapi';
import { startSandbox } from '@erp-proxy/sandbox';
import { beforeAll, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { startShop } from '../examples/shop.ts';
import { PROGRAM_VERSION, startProxy } from '../harness.ts';
import { installTools } from './tools.ts';

/** Installing takes long on a busy machine. */
const TIMEOUT_MS = 180_000;

const { folder, node } = installTools('openapi-tools', TIMEOUT_MS);
const DOCUMENT = join(folder, 'openapi.json');
beforeAll(async () => writeFileSync(DOCUMENT, JSON.stringify(await renderOpenapi(PROGRAM_VERSION))));

async function lint(path: string): Promise<string[]> {
  writeFileSync(
    join(folder, 'lint.mjs'),
    `import { createConfig, lint } from '@redocly/openapi-core';
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lint({ ref: process.argv[2], config });
    console.log(JSON.stringify(problems.map(({ severity, ruleId, message, location: [place] }) =>
      [severity, ruleId, message, place?.pointer].join(' '))));`,
  );
  return JSON.parse(await node('lint.mjs', path));
}

test('the linter has neither errors nor warnings', async () => {
  expect(await lint(DOCUMENT)).toEqual([]);
  // The linter does find errors in a broken document.
  const broken = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  delete broken.servers;
  broken.paths['/healthz'].get.responses = { 200: { description: 'Alive.' } };
  writeFileSync(join(folder, 'broken.json'), JSON.stringify(broken));
  expect((await lint(join(folder, 'broken.json'))).join('\n')).toMatch(/no-empty-servers(.|\n)*4xx-response/);
});

test(
  'the linter has neither errors nor warnings about models of an instance',
  async () => {
    const { proxy } = closeAfterTest(await startShop());
    const query = 'instance=prod&models=res.partner,sale.order,sale.order.line,product.template,res.users';
    const headers = { 'x-proxy-api': proxy.key };
    const answer = await fetch(`${proxy.url}/openapi.json?${query}`, { headers });
    expect(answer.status).toBe(200);
    writeFileSync(join(folder, 'models.json'), await answer.text());
    expect(await lint(join(folder, 'models.json'))).toEqual([]);
  },
  TIMEOUT_MS,
);

test('a generated client compiles and makes calls', async () => {
  await node('node_modules/openapi-typescript/bin/cli.js', DOCUMENT, '-o', 'api.d.ts');
  writeFileSync(join(folder, 'client.mts'), CLIENT);
  const flags = [
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
  ];
  await node('node_modules/typescript/bin/tsc', ...flags, 'client.mts');

  const sandbox = closeAfterTest(await startSandbox({ version: 18 }));
  const proxy = closeAfterTest(await startProxy({ allow: [sandbox.url] }));
  const { client } = await import(pathToFileURL(join(folder, 'client.mjs')).href);
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  const { url, db } = sandbox;
  const instance = { url, db, user_id, api_key };
  expect(await client(proxy.url, proxy.key, instance)).toEqual({
    one: { jsonrpc: '2.0', id: 1, result: [{ id: 9, name: 'Wood Corner' }] },
    types: ['model_not_found'],
    status: 401,
    version: '18.0',
  });
});

const CLIENT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';
type Call = components['schemas']['ExecuteCall'];
export async function client(baseUrl: string, key: string, erp_instance: Call['erp_instance'] & { url: string }) {
  const api = createClient<paths>({ baseUrl, headers: { 'x-proxy-api': key } });
  const call: Call = {
    id: 1, action: 'read', model_id: 'res.partner', params: [[9]], keyword: { fields: ['name'] }, erp_instance,
  };
  // @ts-expect-error: a call needs a model.
  const incomplete: Call = { action: 'read', erp_instance };
  const { data: one } = await api.POST('/api/erp/execute', { body: call });
  const { data: many } = await api.POST('/api/erp/execute', { body: [{ ...call, model_id: 'res.partnr' }] });
  const types = Array.isArray(many) ? many.flatMap((it) => 'error' in it ? [it.error.data.type] : []) : [];
  const { data: asked } = await api.POST('/api/erp/version', { body: { url: erp_instance.url } });
  const version = asked && 'result' in asked ? asked.result.server_version : incomplete;
  const refused = await api.POST('/api/erp/execute', { body: call, headers: { 'x-proxy-api': 'wrong' } });
  return { one, types, status: refused.response.status, version };
}
`;

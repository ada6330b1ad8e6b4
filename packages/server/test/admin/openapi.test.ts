import { renderOpenapi } from '@erp-proxy/http/openapi';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { PROGRAM_VERSION, startProxy } from '../harness.ts';
import { type Json, SETTINGS } from './admin-client.ts';

const document: Json = await renderOpenapi(PROGRAM_VERSION);

test('the served document is the rendered one', async () => {
  const proxy = closeAfterTest(await startProxy());
  const answer = await fetch(`${proxy.url}/openapi.json`);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const served: Json = await answer.json();
  expect(served).toEqual(JSON.parse(JSON.stringify(document)));
  expect(served.info.version).toBe(PROGRAM_VERSION);
});

test('the document has every route of the server, and no other', async () => {
  // The console is a page with files, not a part of the API.
  const settings = { ...SETTINGS, 'console.enabled': 'false' };
  const proxy = closeAfterTest(await startProxy({ settings }));
  const served = listServed(proxy.app.server.printRoutes({ commonPrefix: false }));
  const described = Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // An alias with a slash at the end is no route of its own.
  const routes = served.filter((route) => !(route.endsWith('/') && served.includes(route.slice(0, -1))));
  expect(described.sort()).toEqual(routes.sort());
});

test('every reference has a schema, and every schema a reference', () => {
  const references = new Set(listReferences(document));
  const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...references].sort()).toEqual(schemas.sort());
});

test('each operation has a unique id, a summary, responses and known security schemes', () => {
  const operations = Object.values<Json>(document.paths).flatMap((path) => Object.values<Json>(path));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { summary, responses, security, tags } of operations) {
    expect(summary).toMatch(/\.$/);
    expect(Object.keys(responses).length).toBeGreaterThan(0);
    const schemes = security.flatMap((way: object) => Object.keys(way));
    expect(Object.keys(document.components.securitySchemes)).toEqual(expect.arrayContaining(schemes));
    expect(document.tags.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(tags));
  }
});

test('each variable of a path has a parameter', () => {
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values<Json>(operations)) {
      const named = parameters.filter((it: Json) => it.in === 'path').map((it: Json) => it.name);
      expect(named).toEqual(variables);
    }
  }
});

test('the key of an instance is write-only, and in no answer', () => {
  const { schemas } = document.components;
  expect(schemas.InstanceInput.properties.api_key.writeOnly).toBe(true);
  expect(schemas.InstanceChanges.properties.api_key.writeOnly).toBe(true);
  expect(JSON.stringify(schemas.Instance)).not.toContain('api_key');
});

function listReferences(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' ? [String(member)] : listReferences(member),
  );
}

/**
 * Lists routes as `GET /keys/{id}` from Fastify's tree, without HEAD, which every GET has, and OPTIONS, for preflights.
 */
function listServed(tree: string): string[] {
  const parents: string[] = [];
  return tree
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
      const depth = indent.length / 4;
      parents.length = depth;
      parents.push(part);
      const path = parents.join('').replaceAll(/:(\w+)/g, '{$1}');
      return methods
        .split(', ')
        .filter((method) => method !== '' && method !== 'HEAD' && method !== 'OPTIONS')
        .map((method) => `${method} ${path}`);
    });
}

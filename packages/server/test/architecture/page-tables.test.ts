/**
 * Checks tables that people write: they have a row for each thing of its kind in the code, and no other rows.
 * scripts/docs.ts checks pages that are generated as a whole.
 */

import { ALL_TOOLS } from '@erp-proxy/agents/tools';
import { ATTENTION_KINDS } from '@erp-proxy/contract';
import { INSTANCE_INPUT, SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';
import { ADMIN_ROUTES } from '@erp-proxy/http/admin/table';
import { POLICY_MEMBERS } from '@erp-proxy/policy/parse';
import { expect, test } from 'vitest';
import { readText } from './repository-files.ts';

test('docs/admin-api.md lists the routes of the admin API', () => {
  const routes = ADMIN_ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const listed = listFirstCells('docs/admin-api.md', 'route').flatMap(listRoutes);
  expect(listed.toSorted()).toEqual(routes.toSorted());
});

test('docs/admin-api.md lists what needs attention', () => {
  const listed = listFirstCells('docs/admin-api.md', 'kind').flatMap(listCode);
  expect(listed.toSorted()).toEqual([...ATTENTION_KINDS].toSorted());
});

test('docs/mcp.md lists the tools in the order in which clients get them', () => {
  expect(listFirstCells('docs/mcp.md', 'tool').flatMap(listCode)).toEqual(ALL_TOOLS.map(({ name }) => name));
});

test.each([
  ['docs/policies.md', POLICY_MEMBERS],
  ['docs/instances.md', { name: null, ...INSTANCE_INPUT }],
  ['docs/webhooks.md', { name: null, ...SUBSCRIPTION_MEMBERS }],
])('%s lists the members that an operator gives', (page, members) => {
  const listed = listFirstCells(page, 'member').flatMap(listCode);
  expect(listed.toSorted()).toEqual(Object.keys(members).toSorted());
});

test('CONTRIBUTING.md lists the files that `npm run docs` writes', () => {
  const written = [...readText('scripts/docs.ts').matchAll(/\{ path: '([^']+)'/g)].map(([, path]) => path);
  expect(written.length).toBeGreaterThan(5);
  const listed = listFirstCells('CONTRIBUTING.md', 'file').flatMap(listCode);
  expect(written.filter((path) => !listed.includes(path!))).toEqual([]);
});

test('the routes of a cell have the methods before their path', () => {
  expect(listRoutes('`GET` `PATCH /keys/{id}`')).toEqual(['GET /keys/{id}', 'PATCH /keys/{id}']);
  expect(listRoutes('`GET /a`, `POST /b`')).toEqual(['GET /a', 'POST /b']);
});

/** The first cells of the only table of the page whose first column has this heading. */
function listFirstCells(page: string, heading: string): string[] {
  const tables = readText(page).split(/\n(?!\|)/);
  const found = tables.filter((text) => text.includes(`| ${heading} |`));
  expect(found).toHaveLength(1);
  const rows = found[0]!.slice(found[0]!.indexOf(`| ${heading} |`)).split('\n');
  return rows.slice(2).map((row) => row.split('|')[1]!.trim());
}

function listCode(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

function listRoutes(cell: string): string[] {
  let methods: string[] = [];
  return listCode(cell)
    .flatMap((code) => code.split(' '))
    .flatMap((word) => {
      if (!word.startsWith('/')) {
        methods.push(word);
        return [];
      }
      const routes = methods.map((method) => `${method} ${word}`);
      methods = [];
      return routes;
    });
}

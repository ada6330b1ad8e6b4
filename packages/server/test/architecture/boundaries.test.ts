/**
 * Which folder may import which. A row names a folder and what its files import beside their own folder: folders below
 * it in the table, packages, and modules of Node. `odoo/*` is a folder with all folders in it, and `node` is each module
 * of Node except those that reach out of the process ({@link GUARDED}), which are named. The linter refuses circles of
 * files (`noImportCycles` in biome.json). Tests may import anything.
 */
import { dirname, join, relative } from 'node:path/posix';
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const BOUNDARIES: Record<string, string> = {
  client: '.:',
  contract: `
    .: admin
    admin: . zod`,
  console: `
    .: app @mantine react-dom
    app: api parts pages/* @mantine @tanstack react
    pages/*: app api parts/* @erp-proxy/contract @mantine @tanstack react
    parts: api @erp-proxy/contract @mantine @tanstack react
    parts/json-editor: api @codemirror @erp-proxy/contract @lezer @mantine react
    api: @erp-proxy/contract @tanstack`,
  sandbox: `
    .: data http json rpc versions node:http node:net
    http: doc json orm rpc versions node node:http node:net
    rpc: data json models orm versions node
    doc: json orm
    models: data json orm/* node
    data: json orm node
    orm: json orm/methods versions node
    orm/methods: json orm node
    versions: json orm
    json: node`,
  server: `
    .: cli config node
    cli: admin app audit cli/* config egress execute/call instances json key-rotation keys observe policy stores streams text tokens @erp-proxy/contract @erp-proxy/contract/admin @erp-proxy/sandbox yaml zod node node:cluster
    cli/apply: config instances json keys policy subscriptions text @erp-proxy/contract @erp-proxy/contract/admin yaml node
    cli/types: cli json @erp-proxy/client
    cli/export:
    cli/mcp: mcp @modelcontextprotocol node
    app: admin approvals audit config data/* egress examine execute/* http/* idempotency instances key-rotation keys limits/* mcp observe odoo policy redis statistics stores stores/ports streams subscriptions tokens traces @erp-proxy/contract node
    http: config data/* execute execute/request execute/terms http/* mcp observe streams threads @erp-proxy/contract @erp-proxy/contract/admin @fastify fastify lru-cache zod node node:http node:net
    http/admin: admin audit config execute execute/terms http http/openapi json keys observe policy streams text @erp-proxy/contract @erp-proxy/contract/admin fastify lru-cache zod node
    http/openapi: admin config execute execute/request execute/terms http http/admin http/connection http/shedding json streams @erp-proxy/contract @erp-proxy/contract/admin fastify zod node
    http/connection: execute/request execute/terms http http/shedding streams text threads @erp-proxy/contract node node:http node:net
    http/console: http fastify node
    http/reference: fastify node
    http/shedding:
    data/subscriptions: data data/changes execute execute/call execute/terms instances json keys streams subscriptions @erp-proxy/contract node
    data/changes: data execute/call execute/request execute/terms instances json streams text @erp-proxy/contract node
    data/export: data execute/call execute/request execute/terms json observe streams @erp-proxy/contract node
    data/files: data execute/call execute/request execute/terms json odoo/faults policy streams @erp-proxy/contract node
    data: execute/call execute/terms json odoo policy streams @erp-proxy/contract node
    mcp: execute/terms execute/thread idempotency instances json mcp/tools naming odoo policy streams text @erp-proxy/contract @modelcontextprotocol lru-cache zod node
    mcp/tools: instances json mcp mcp/documents odoo policy text @erp-proxy/contract zod
    mcp/documents: fflate unpdf node
    examine: egress execute/terms execute/upstream key-rotation odoo/* streams @erp-proxy/contract node
    execute: execute/* keys limits naming observe odoo/faults policy streams @erp-proxy/contract node
    execute/request: approvals egress execute/terms idempotency keys limits observe streams @erp-proxy/contract node
    execute/call: egress execute/terms execute/thread instances json keys odoo/* policy stores/ports streams text @erp-proxy/contract node
    execute/upstream: approvals egress execute/terms execute/thread idempotency json keys limits/* observe odoo/* policy sharing streams text threads @erp-proxy/contract lru-cache node
    execute/thread: execute/call execute/terms execute/upstream json keys odoo/* policy streams threads @erp-proxy/contract node
    traces: egress execute/terms observe streams @opentelemetry node
    execute/terms: approvals egress idempotency instances json keys limits/database observe odoo/* streams @erp-proxy/contract
    naming: json @erp-proxy/contract
    admin: approvals audit instances key-rotation keys odoo odoo/signatures policy statistics stores/ports streams subscriptions text @erp-proxy/contract @erp-proxy/contract/admin zod node
    tokens: egress instances json keys policy stores stores/ports streams @erp-proxy/contract jose lru-cache node
    keys: json policy stores stores/ports streams @erp-proxy/contract ipaddr.js lru-cache node
    policy: egress json odoo/* text @erp-proxy/contract zod
    key-rotation: egress instances json odoo odoo/faults odoo/json2 stores/ports @erp-proxy/contract lru-cache zod node
    redis: idempotency limits/* sharing stores/ports streams ioredis lru-cache node
    config: stores text @erp-proxy/contract yaml zod node node:net
    approvals: idempotency instances stores/ports streams @erp-proxy/contract node
    subscriptions: egress instances observe stores stores/ports streams text @erp-proxy/contract @erp-proxy/contract/admin zod node
    idempotency: stores/ports streams @erp-proxy/contract lru-cache node
    instances: egress odoo stores stores/ports @erp-proxy/contract @erp-proxy/contract/admin lru-cache zod node
    audit: observe stores stores/ports streams text @erp-proxy/contract lru-cache node
    statistics: observe stores/ports streams @erp-proxy/contract node
    odoo/related: json odoo odoo/fields odoo/sensitive odoo/signatures odoo/values
    odoo/json2: json odoo odoo/faults odoo/signatures @erp-proxy/contract
    odoo/faults: json odoo odoo/signatures @erp-proxy/contract
    odoo/values: json odoo streams @erp-proxy/contract lru-cache
    odoo/sensitive: json odoo
    odoo/fields: json odoo
    odoo/signatures: json
    odoo: json @erp-proxy/contract
    egress: streams text ipaddr.js lru-cache node node:dns node:net node:tls
    sharing: streams lru-cache node
    limits: limits/* stores stores/ports streams @erp-proxy/contract
    limits/database: limits
    stores: stores/* streams @erp-proxy/contract lru-cache node
    stores/sqlite: stores stores/ports streams @erp-proxy/contract lru-cache node node:sqlite
    stores/postgres: stores stores/ports streams @erp-proxy/contract lru-cache pg node node:tls
    stores/ports: node
    json: @erp-proxy/contract node
    observe: streams text @erp-proxy/contract prom-client node
    threads: streams node
    streams: @erp-proxy/contract lru-cache node
    text: node`,
};

/** Folders that import a folder above them. A folder may also import the one that it is in, if its row names it. */
const UPWARDS = [
  'pages/* app',
  'versions orm',
  'http/openapi http/admin',
  'execute/thread execute/call',
  'execute/thread execute/upstream',
];

/** Every outgoing byte goes through egress/. The linter does not see the environment in `node:process`. */
const GUARDED = /^node:(child_process|cluster|dgram|dns|http|http2|https|net|process|sqlite|tls)\b/;

/** The formatter may write the argument of `import()` on a line of its own. */
const IMPORT =
  /^(?:\/\*.*\*\/ *)?(?:import|export|\})[^\n]* from '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'/gm;

test.each(Object.keys(BOUNDARIES))('files of packages/%s import what their folder may', (name) => {
  const files = findFiles(`packages/${name}/src/**/*.{mjs,ts,tsx}`).filter(
    (file) => !/\.(test|fixture)\.tsx?$/.test(file),
  );
  const folders = new Set(files.map((file) => findFolder(name, file)));
  const unused = listRows(name).filter(([row = '']) => ![...folders].some((folder) => covers(row, folder)));
  expect(unused, 'rows without a folder').toEqual([]);
  const faults = files.flatMap((file) =>
    [...readText(file).matchAll(IMPORT)].flatMap(([, one, two, three]) => {
      const fault = findFault(file, one ?? two ?? three ?? '');
      return fault === null ? [] : [fault];
    }),
  );
  expect(faults).toEqual([]);
});

test.each([
  ['contract/src/probe.ts', 'node:buffer'],
  ['console/src/pages/calls/probe.tsx', '../keys/route.ts'],
  ['console/src/api/probe.ts', '@erp-proxy/contract/admin'],
  ['sandbox/src/http/probe.ts', '../../../server/src/json/document.ts'],
  ['server/src/main.ts', './app/app.ts'],
  ['server/src/http/probe.ts', '../json/document.ts'],
  ['server/src/http/probe.ts', 'node:https'],
  ['server/src/keys/probe.ts', '../stores/sqlite/store.ts'],
  ['server/src/execute/terms/probe.ts', '../call/base-url.ts'],
  ['server/src/text/probe.ts', '../json/document.ts'],
  ['server/src/newcomer/probe.ts', 'node:fs'],
])('packages/%s may not import %s', (file, specifier) => {
  expect(findFault(`packages/${file}`, specifier)).toContain(`packages/${file} imports ${specifier}`);
});

/** Names the file, the import and the rule that it breaks, or is null. */
function findFault(file: string, specifier: string): string | null {
  const name = file.split('/')[1]!;
  const rows = listRows(name);
  const findPlace = (folder: string) => rows.findIndex(([row = '']) => covers(row, folder));
  const folder = findFolder(name, file);
  const [row, words = ''] = rows[findPlace(folder)] ?? [];
  const refuse = (rule: string) => `${file} imports ${specifier}, but ${rule}`;
  if (row === undefined) return refuse(`the table has no row for ${folder}`);
  const isNamed = (imported: string) => words.split(' ').some((word) => covers(word, imported));
  if (!specifier.startsWith('.')) {
    const imported = specifier.startsWith('node:') && !GUARDED.test(specifier) ? 'node' : specifier;
    return isNamed(imported) ? null : refuse(`the row of ${row} does not name ${imported}`);
  }
  const target = findFolder(name, join(dirname(file), specifier));
  if (target === folder) return null;
  if (!isNamed(target)) return refuse(`the row of ${row} does not name ${target}`);
  const isBelow = findPlace(folder) < findPlace(target);
  if (isBelow || target === dirname(folder) || UPWARDS.includes(`${row} ${target}`)) return null;
  return refuse(`${target} is above ${row} in the table`);
}

function listRows(name: string): string[][] {
  return (BOUNDARIES[name] ?? '')
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/:(?: |$)/));
}

/** Relative to the sources of its package; `.` is their root. A file outside of them has a folder that no row names. */
function findFolder(name: string, file: string): string {
  return relative(`packages/${name}/src`, dirname(file)) || '.';
}

/** A folder with all folders in it, or a package with its entries. Those of our own packages are named one by one. */
function covers(word: string, imported: string): boolean {
  if (word.endsWith('/*')) return `${imported}/`.startsWith(word.slice(0, -1));
  return imported === word || (/^(@(?!erp-proxy)|node:|react)/.test(word) && imported.startsWith(`${word}/`));
}

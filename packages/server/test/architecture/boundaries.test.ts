/**
 * Tests which folder may import which. A row names a folder and what its files import beside their own folder: folders
 * below it in the table, packages, and modules of Node. `data/*` is a folder with all folders in it, and `node` stands
 * for all modules of Node except those that reach out of the process ({@link GUARDED}), which a row must name. Packages
 * of {@link SHARED} need no name if `package.json` has them. The linter refuses circular imports of files
 * (`noImportCycles` in biome.json). Tests may import anything, but of the packages in {@link CLOSED} only entry points.
 */
import { dirname, join, relative } from 'node:path/posix';
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const BOUNDARIES: Record<string, string> = {
  async: `
    .: tasks node
    streams:
    tasks: lru-cache node`,
  client: '.:',
  contract: `
    .: admin
    admin: . zod`,
  console: `
    .: app @mantine react-dom
    app: api parts pages/* @mantine @tanstack react
    pages/*: app api parts/* @mantine @tanstack react
    parts: api @mantine @tanstack react
    parts/json-editor: api @codemirror @lezer @mantine react
    api: @tanstack`,
  json: '.: node',
  odoo: `
    related: . fields sensitive signatures values
    json2: faults servers signatures
    faults: . signatures
    values: . times
    sensitive: .
    fields: .
    jsonrpc:
    servers:
    signatures:
    times:
    .:`,
  policy: `
    entry-points: .
    .: odoo zod`,
  egress: `
    entry-points: .
    .: wire lru-cache node node:dns node:net node:tls`,
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
  text: '.: node node:net',
  wire: `
    client: . node node:net node:tls
    server: . node node:http node:net
    .:`,
  stores: `
    .: ports postgres sqlite lru-cache node
    sqlite: . ports lru-cache node node:sqlite
    postgres: . ports lru-cache pg node node:tls
    ports: node`,
  observe: `
    otlp: . egress @opentelemetry node
    entry-points: .
    .: prom-client node`,
  traffic: `
    redis: idempotency limits/* sharing stores/ports ioredis lru-cache node
    idempotency: stores/ports lru-cache node
    sharing: lru-cache node
    limits: limits/* stores
    limits/database: limits`,
  control: `
    tokens: egress instances keys policy stores jose lru-cache node
    keys: policy stores ipaddr.js lru-cache node
    key-rotation: egress connections instances odoo stores/ports lru-cache zod node
    approvals: traffic/idempotency instances stores/ports node
    connections: instances stores zod node
    consents: instances stores zod node
    instances: egress odoo stores @erp-proxy/contract/admin lru-cache zod node
    audit: observe stores lru-cache node
    statistics: observe stores/ports node`,
  gateway: `
    examine: egress terms upstream control/key-rotation odoo node
    .: call examine naming request terms thread traces upstream control/keys traffic/limits observe odoo policy node
    request: control/approvals egress terms traffic/idempotency control/keys traffic/limits observe node
    call: control/connections egress terms thread control/instances control/keys odoo policy stores/ports node
    upstream: control/approvals egress terms thread control/keys traffic observe odoo policy @erp-proxy/async/shared-bytes lru-cache node
    thread: call terms upstream control/keys odoo policy @erp-proxy/async/shared-bytes node
    traces: egress terms observe @opentelemetry node
    terms: control/approvals control/connections egress traffic/idempotency control/instances control/keys traffic/limits/database observe odoo
    naming:`,
  data: `
    jobs: gateway gateway/request gateway/terms control/instances control/keys observe stores node
    subscriptions/calls: . changes gateway control/instances control/keys subscriptions node
    changes: . gateway/call gateway/request gateway/terms control/instances node
    export: . gateway/call gateway/request gateway/terms observe node
    fleet: . control/instances gateway/call gateway/request gateway/terms gateway/thread traffic
    documents: . files gateway/call gateway/request gateway/terms node
    files: . gateway/call gateway/request gateway/terms odoo policy node
    .: gateway/call gateway/terms odoo policy node
    subscriptions: egress control/instances observe stores @erp-proxy/contract/admin zod node`,
  agents: `
    .: gateway/terms gateway/thread traffic control/instances tools gateway/naming odoo policy @modelcontextprotocol zod node
    tools: control/instances . documents odoo policy zod
    documents: fflate unpdf node`,
  admin: `
    entry-points: .
    .: control/approvals control/audit control/connections control/consents control/instances control/key-rotation control/keys control/tokens odoo policy control/statistics stores/ports data/subscriptions @erp-proxy/contract/admin lru-cache zod node
    operators: control/audit egress control/instances control/keys policy stores control/tokens jose openid-client node`,
  authorization: `
    .: admin control/audit control/consents control/instances control/keys control/tokens egress stores/ports lru-cache oidc-provider zod node node:http`,
  http: `
    .: data gateway admin authorization console openapi pages reference shedding agents observe wire @erp-proxy/async/shared-bytes @erp-proxy/contract/admin @fastify fastify lru-cache zod node node:http node:net
    admin: admin authorization control/audit data/documents gateway . console openapi control/keys observe policy @erp-proxy/contract/admin fastify lru-cache zod node
    openapi: admin gateway . shedding @erp-proxy/contract/admin fastify zod node
    console: . fastify node
    pages: . fastify node
    reference: fastify node
    shedding:`,
  server: `
    .: cli config node
    cli: admin app control/audit cli/* config egress gateway/call control/instances control/key-rotation control/keys observe policy stores control/tokens @erp-proxy/contract/admin @erp-proxy/sandbox yaml zod node node:child_process node:cluster node:http node:net
    cli/import: cli/apply @erp-proxy/contract/admin zod
    cli/apply: config control/instances control/keys policy data/subscriptions @erp-proxy/contract/admin yaml node
    cli/types: cli @erp-proxy/client
    cli/export:
    cli/mcp: agents @modelcontextprotocol node
    app: admin authorization control/approvals control/audit config control/connections control/consents data egress gateway http control/instances control/key-rotation control/keys traffic agents observe odoo policy control/statistics stores control/tokens node
    config: stores yaml zod node node:net`,
};

/** Packages that define the terms of all other parts. */
const SHARED = [
  '@erp-proxy/async/streams',
  '@erp-proxy/async/tasks',
  '@erp-proxy/contract',
  '@erp-proxy/json',
  '@erp-proxy/text',
];

/**
 * Packages that other packages use by the entry points in `exports` of their `package.json`. A row names an entry
 * point, such as `control/keys`, with those below it, or a package with all its entry points.
 */
const CLOSED = [
  'admin',
  'agents',
  'async',
  'authorization',
  'control',
  'data',
  'egress',
  'gateway',
  'http',
  'json',
  'observe',
  'odoo',
  'policy',
  'stores',
  'text',
  'traffic',
  'wire',
];

/** Folders that import a folder above them. A folder may also import its parent folder, if its row names it. */
const UPWARDS = ['pages/* app', 'versions orm', 'openapi admin', 'thread call', 'thread upstream'];

/**
 * Modules that reach out of the process: every outgoing byte goes through packages/egress. `node:process` is listed
 * because the linter does not see its environment.
 */
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
    listImports(file).flatMap((specifier) => {
      const fault = findFault(file, specifier);
      return fault === null ? [] : [fault];
    }),
  );
  expect(faults).toEqual([]);
});

test('other packages import the entry points of a package alone', () => {
  const files = findFiles('{bench,chaos,examples,packages,scripts}/**/*.{js,mjs,ts,tsx}');
  const faults = files.flatMap((file) =>
    listImports(file).flatMap((specifier) => {
      const [, owner = ''] = /^packages\/(\w+)\/src\//.exec(join(dirname(file), specifier)) ?? [];
      const isOutside = CLOSED.includes(owner) && !file.startsWith(`packages/${owner}/`);
      return isOutside && specifier.startsWith('.') ? [`${file} imports ${specifier}`] : [];
    }),
  );
  expect(faults).toEqual([]);
});

test.each([
  ['contract/src/probe.ts', 'node:buffer'],
  ['console/src/pages/calls/probe.tsx', '../keys/route.ts'],
  ['console/src/api/probe.ts', '@erp-proxy/contract/admin'],
  ['sandbox/src/http/probe.ts', '../../../json/src/document.ts'],
  ['server/src/main.ts', './app/app.ts'],
  ['http/src/probe.ts', '@erp-proxy/stores'],
  ['sandbox/src/http/probe.ts', '@erp-proxy/json'],
  ['http/src/probe.ts', 'node:https'],
  ['stores/src/ports/probe.ts', '../sqlite/store.ts'],
  ['gateway/src/terms/probe.ts', '../call/resolve.ts'],
  ['control/src/audit/probe.ts', '../keys/keys.ts'],
  ['traffic/src/limits/probe.ts', '@erp-proxy/policy'],
  ['server/src/newcomer/probe.ts', 'node:fs'],
  ['server/src/cli/probe.ts', '@erp-proxy/stores/testing'],
])('packages/%s may not import %s', (file, specifier) => {
  expect(findFault(`packages/${file}`, specifier)).toContain(`packages/${file} imports ${specifier}`);
});

function listImports(file: string): string[] {
  return [...readText(file).matchAll(IMPORT)].map(([, one, two, three]) => one ?? two ?? three ?? '');
}

/** The fault of an import: the file, the import and the rule that it breaks; null if there is none. */
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
    const [, own = '', entry] = /^@erp-proxy\/(\w+)(?:\/(\w+))?/.exec(specifier) ?? [];
    if (entry === 'testing') return refuse('only tests may use it');
    const isEntryNamed = words.split(' ').some((word) => `${specifier}/`.startsWith(`@erp-proxy/${word}/`));
    const isAllowed = SHARED.includes(specifier) || (CLOSED.includes(own) && isEntryNamed);
    if (isAllowed && listDependencies(name).includes(`@erp-proxy/${own}`)) return null;
    return isNamed(imported) ? null : refuse(`the row of ${row} does not name ${imported}`);
  }
  const target = findFolder(name, join(dirname(file), specifier));
  if (target === folder) return null;
  if (!isNamed(target)) return refuse(`the row of ${row} does not name ${target}`);
  const isBelow = findPlace(folder) < findPlace(target);
  if (isBelow || target === dirname(folder) || UPWARDS.includes(`${row} ${target}`)) return null;
  return refuse(`${target} is above ${row} in the table`);
}

function listDependencies(name: string): string[] {
  const manifest: { dependencies?: object } = JSON.parse(readText(`packages/${name}/package.json`));
  return Object.keys(manifest.dependencies ?? {});
}

function listRows(name: string): string[][] {
  return (BOUNDARIES[name] ?? '')
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/:(?: |$)/));
}

/**
 * The file's folder relative to the sources of its package; `.` is their root. For a file outside them, it is a folder
 * that no row names.
 */
function findFolder(name: string, file: string): string {
  return relative(`packages/${name}/src`, dirname(file)) || '.';
}

/**
 * Whether a word of a row covers an import: it can be a folder with all folders in it, or a package with all its
 * entries. Entries of our own packages must be named one by one.
 */
function covers(word: string, imported: string): boolean {
  if (word.endsWith('/*')) return `${imported}/`.startsWith(word.slice(0, -1));
  return imported === word || (/^(@(?!erp-proxy)|node:|react)/.test(word) && imported.startsWith(`${word}/`));
}

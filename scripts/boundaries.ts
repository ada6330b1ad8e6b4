/**
 * Who may import whom, as one table. biome.boundaries.json is generated from it, so that editors show a breach where it
 * is written; packages/server/test/architecture/boundaries.test.ts proves that the rules bite.
 */

/** Files of one kind and what they may import beside files of their own folder. Later rows win over earlier ones. */
interface Boundary {
  files: string;
  /** Import specifiers, as globs. `node:*` stands for every module of Node but {@link GUARDED_MODULES}. */
  allow: string[];
  /** What stays refused although a glob of `allow` matches. */
  deny?: string[];
  /** True where files of the folder take only types from a {@link STEPS step}. */
  keepsStepsApart?: true;
  /** True where the clock is handed in: scripts/clock.grit refuses Date.now() and its kin. */
  takesClock?: true;
}

/**
 * Ways out of the process, and drivers: each is named by the row that may have it, since every outgoing byte goes through
 * egress/. node:process is here because noProcessEnv does not see `import { env } from 'node:process'`.
 */
const GUARDED_MODULES = '{child_process,dgram,dns,http,http2,https,net,process,sqlite,tls}';

/** The steps of the pipelines: the files of execute/ whose opening comment begins with "Step:". */
const STEPS = [
  'admit',
  'answer',
  'authenticate',
  'authorize',
  'call',
  'limit',
  'parse',
  'parse-json2',
  'receive',
  'receive-json2-refusal',
  'record',
  'resolve',
  'translate',
];

const SERVER = 'packages/server/src';
const CONTRACT = '@erp-proxy/contract';
const EXECUTE = [
  '../{egress,json,keys,observe,odoo}/*',
  '../stores/ports.ts',
  '../config/nearest.ts',
  CONTRACT,
  'lru-cache',
  'node:*',
];

const BOUNDARIES: Boundary[] = [
  { files: 'packages/contract/src/**', allow: [] },
  {
    files: 'packages/sandbox/src/**',
    allow: ['./**', '../**', 'node:*', 'node:{http,net}'],
    deny: ['**/{contract,server}/**'],
  },
  // A folder without a row of its own may import nothing: a new folder gets its row here.
  { files: `${SERVER}/**`, allow: [] },
  { files: `${SERVER}/main.ts`, allow: ['./{cli,config}/*', 'node:*'], deny: ['./*.ts'] },
  { files: `${SERVER}/app.ts`, allow: ['./*/*', CONTRACT, 'node:*'], deny: ['./*.ts', './cli/*'] },
  {
    files: `${SERVER}/cli/**`,
    allow: [
      '../app.ts',
      '../{config,egress,keys,observe,stores}/*',
      '../execute/{base-url,denial}.ts',
      '../odoo/jsonrpc.ts',
      CONTRACT,
      '@erp-proxy/sandbox',
      'node:*',
    ],
  },
  {
    files: `${SERVER}/http/**`,
    allow: [
      '../{config,execute,keys,observe}/*',
      CONTRACT,
      'fastify',
      '@fastify/*',
      'zod',
      'node:*',
      'node:{http,net}',
    ],
  },
  { files: `${SERVER}/execute/**`, allow: EXECUTE, keepsStepsApart: true, takesClock: true },
  { files: `${SERVER}/execute/*pipeline.ts`, allow: EXECUTE, takesClock: true },
  { files: `${SERVER}/odoo/**`, allow: ['../json/*', CONTRACT, 'node:buffer'], takesClock: true },
  { files: `${SERVER}/json/**`, allow: [CONTRACT, 'node:buffer'], takesClock: true },
  {
    files: `${SERVER}/egress/**`,
    allow: ['ipaddr.js', 'lru-cache', 'node:*', 'node:{dns,net,tls}', 'node:dns/promises'],
  },
  { files: `${SERVER}/config/**`, allow: [CONTRACT, 'zod', 'yaml', 'node:*', 'node:net'] },
  {
    files: `${SERVER}/keys/**`,
    allow: ['../stores/ports.ts', CONTRACT, 'ipaddr.js', 'lru-cache', 'node:*'],
    takesClock: true,
  },
  { files: `${SERVER}/stores/**`, allow: [CONTRACT, 'node:*'] },
  { files: `${SERVER}/stores/sqlite*.ts`, allow: [CONTRACT, 'node:*', 'node:sqlite'] },
  // Test support: the suite that every store runs.
  { files: `${SERVER}/stores/contract.ts`, allow: [CONTRACT, 'vitest', 'node:*'] },
  { files: `${SERVER}/observe/**`, allow: [CONTRACT, 'prom-client', 'node:*'] },
];

/** The linter's configuration of the table. Tests may import anything. */
export function renderBoundaries(): string {
  const overrides = BOUNDARIES.map((boundary) => ({
    includes: [boundary.files, '!**/*.test.ts'],
    ...(boundary.takesClock ? { plugins: ['./scripts/clock.grit'] } : {}),
    linter: {
      rules: {
        style: { noRestrictedImports: { level: 'error', options: { patterns: listPatterns(boundary) } } },
      },
    },
  }));
  return `${JSON.stringify({ overrides }, null, 2)}\n`;
}

/** In a group the last match wins: everything is refused, then `allow` lets some in, then `deny` takes some back. */
function listPatterns(boundary: Boundary): object[] {
  const { files, allow, deny = [] } = boundary;
  const group = ['**', '!./*', ...allow.flatMap(expandAllowed), ...deny];
  const message = `${files} may import only: its own folder${['', ...allow].join(', ')}${deny.length ? `; not ${deny.join(', ')}` : ''}. The table is scripts/boundaries.ts.`;
  const patterns: object[] = [{ group, message }];
  if (boundary.keepsStepsApart) {
    patterns.push({
      group: [`./{${STEPS.join(',')}}.ts`],
      // Types are the names that begin with a capital; the rule cannot see `import type`.
      importNamePattern: '[^A-Z].*',
      message:
        'A step takes only types from another step: their order is pipeline.ts, and what two of them do is a file of its own.',
    });
  }
  return patterns;
}

function expandAllowed(specifier: string): string[] {
  if (specifier !== 'node:*') return [`!${specifier}`];
  return ['!node:*', '!node:*/**', `node:${GUARDED_MODULES}`, `node:${GUARDED_MODULES}/**`];
}

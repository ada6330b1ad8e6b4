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
const GUARDED_MODULES = '{child_process,cluster,dgram,dns,http,http2,https,net,process,sqlite,tls}';

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
  'throttle',
  'translate',
];

const SERVER = 'packages/server/src';
const CONTRACT = '@erp-proxy/contract';
const EXECUTE = [
  '../{egress,idempotency,instances,json,keys,limits,observe,odoo,policy,sharing}/*',
  '../limits/gate/*',
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
  {
    files: `${SERVER}/{app,examination,replicas,services}.ts`,
    allow: ['./*/*', './limits/gate/gate.ts', CONTRACT, 'node:*'],
    deny: ['./{app,main}.ts', './cli/*'],
  },
  {
    files: `${SERVER}/cli/**`,
    allow: [
      '../{app,examination,services}.ts',
      '../{admin,audit,config,egress,instances,keys,observe,policy,stores}/*',
      '../execute/explain.ts',
      '../json/read-value.ts',
      './{apply,completion}/*',
      CONTRACT,
      '@erp-proxy/sandbox',
      'yaml',
      'node:*',
      'node:cluster',
    ],
  },
  {
    files: `${SERVER}/cli/apply/**`,
    allow: [
      '../../config/{explain-yaml-error,nearest}.ts',
      '../../instances/{members,redirection}.ts',
      '../../keys/key-name.ts',
      '../../policy/parse.ts',
      CONTRACT,
      'yaml',
      'node:*',
    ],
  },
  { files: `${SERVER}/cli/completion/**`, allow: ['../command.ts', '../../config/names.ts'] },
  {
    files: `${SERVER}/http/**`,
    allow: [
      '../{admin,config,execute,keys,observe}/*',
      '../json/read-value.ts',
      CONTRACT,
      'fastify',
      '@fastify/*',
      'lru-cache',
      'zod',
      'node:*',
      'node:{http,net}',
    ],
  },
  { files: `${SERVER}/execute/**`, allow: EXECUTE, keepsStepsApart: true, takesClock: true },
  {
    files: `${SERVER}/execute/{*pipeline,explain,judge-again,run-method}.ts`,
    allow: EXECUTE,
    takesClock: true,
  },
  { files: `${SERVER}/odoo/**`, allow: ['../json/*', CONTRACT, 'node:buffer'], takesClock: true },
  { files: `${SERVER}/json/**`, allow: [CONTRACT, 'node:buffer'], takesClock: true },
  {
    files: `${SERVER}/egress/**`,
    allow: ['ipaddr.js', 'lru-cache', 'node:*', 'node:{dns,net,tls}', 'node:dns/promises'],
  },
  { files: `${SERVER}/config/**`, allow: [CONTRACT, 'zod', 'yaml', 'node:*', 'node:net'] },
  {
    files: `${SERVER}/keys/**`,
    allow: [
      '../json/read-value.ts',
      '../policy/*',
      '../stores/{fresh-cache,ports}.ts',
      CONTRACT,
      'ipaddr.js',
      'lru-cache',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/policy/**`,
    allow: [
      '../config/nearest.ts',
      '../egress/address.ts',
      '../odoo/{methods,record-count,related-writes}.ts',
      CONTRACT,
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/instances/**`,
    allow: ['../{egress,odoo}/*', '../stores/{fresh-cache,ports}.ts', CONTRACT, 'lru-cache', 'zod', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/audit/**`,
    allow: ['../observe/events.ts', '../stores/{audit-chain,ports}.ts', CONTRACT, 'lru-cache', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/idempotency/**`,
    allow: [
      '../execute/{exchange,piece-collector}.ts',
      '../stores/ports.ts',
      CONTRACT,
      'lru-cache',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/limits/**`,
    allow: ['../share.ts', '../egress/dispatcher.ts', '../../egress/dispatcher.ts', CONTRACT],
    takesClock: true,
  },
  {
    files: `${SERVER}/sharing/**`,
    allow: ['../egress/dispatcher.ts', 'lru-cache', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/redis/**`,
    allow: [
      '../limits/*',
      '../limits/gate/peers.ts',
      '../idempotency/answer-seal.ts',
      '../sharing/answer-store.ts',
      '../stores/ports.ts',
      'ioredis',
      'lru-cache',
      'node:*',
    ],
  },
  // Test support: a server that can be broken, and the wire to it.
  { files: `${SERVER}/redis/*.fixture.ts`, allow: ['ioredis', 'node:*', 'node:{child_process,net,process}'] },
  {
    files: `${SERVER}/admin/**`,
    allow: ['../{audit,instances,keys,policy}/*', '../stores/ports.ts', CONTRACT, 'zod', 'node:*'],
    takesClock: true,
  },
  { files: `${SERVER}/stores/**`, allow: ['lru-cache', CONTRACT, 'node:*'] },
  { files: `${SERVER}/stores/sqlite*.ts`, allow: [CONTRACT, 'node:*', 'node:sqlite'] },
  // node:tls for the certificates of the connection, which pg makes.
  { files: `${SERVER}/stores/postgres*.ts`, allow: [CONTRACT, 'lru-cache', 'pg', 'node:*', 'node:tls'] },
  // Test support: the suite that every store runs.
  { files: `${SERVER}/stores/contract*.ts`, allow: [CONTRACT, 'vitest', 'node:*'] },
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

/**
 * The table of allowed imports between folders. biome.boundaries.json is generated from it, so that editors show a
 * forbidden import where it is written. packages/server/test/architecture/boundaries.test.ts proves that the rules
 * apply.
 */

/** Files, and what they may import in addition to their own folder. The last row that matches a file applies. */
interface Boundary {
  files: string;
  /** Import specifiers, as globs. `node:*` stands for all modules of Node except {@link GUARDED_MODULES}. */
  allow: string[];
  /** Exceptions to `allow`. */
  deny?: string[];
  /** True if files of the folder may take only types from a {@link STEPS step}. */
  keepsStepsApart?: true;
  /** True if the clock is passed in: scripts/clock.grit refuses Date.now() and similar functions. */
  takesClock?: true;
}

/**
 * Modules that reach out of the process, and drivers. A row must name those that it needs, because every outgoing byte
 * goes through egress/. node:process is guarded because noProcessEnv does not see `import { env } from 'node:process'`.
 */
const GUARDED_MODULES = '{child_process,cluster,dgram,dns,http,http2,https,net,process,sqlite,tls}';

/** The steps of the pipelines: the files of execute/ whose opening comment begins with "Step:". */
const STEPS = [
  'add-nearest-names',
  'admission',
  'answer',
  'apply-instance-timeout',
  'approval',
  'ask-version',
  'authenticate',
  'authorize',
  'build-json2',
  'check-credentials',
  'convert-reading',
  'cut-defaults',
  'handle-non-numbers',
  'idempotency',
  'limit',
  'note-write',
  'obtain-permit',
  'parse',
  'parse-json2',
  'parse-version-question',
  'record',
  'resolve',
  'retry',
  'share-read',
  'admit-data',
  'throttle',
];

const SERVER = 'packages/server/src';
const SANDBOX = 'packages/sandbox/src';
const CONSOLE = 'packages/console/src';
const CONTRACT = '@erp-proxy/contract';
/** Libraries of web pages. */
const CONSOLE_LIBRARIES = [
  '@mantine/*',
  '@mantine/*/*',
  '@tanstack/*',
  '@codemirror/*',
  '@lezer/*',
  'react',
  'react-dom/*',
];
const ODOO = ['../../odoo/*', '../../odoo/{faults,fields,json2,related,sensitive,signatures,values}/*'];
/** What the folders of execute/ may import, by folder. The pages at its top import all four. */
const EXECUTE = {
  terms: [
    '../../{approvals,egress,idempotency,instances,json,keys,observe,streams}/*',
    '../../limits/database/permit.ts',
    '../../odoo/faults/faults.ts',
    '../../odoo/fields/model-orders.ts',
    '../../odoo/json2/json2-result.ts',
    '../../odoo/values/field-types.ts',
    '../../stores/ports.ts',
    CONTRACT,
  ],
  request: [
    '../terms/*',
    '../../{approvals,idempotency,keys,limits,observe,streams}/*',
    '../../egress/base-url.ts',
    '../../stores/ports.ts',
    CONTRACT,
    'node:*',
  ],
  call: [
    '../terms/*',
    '../thread/large-calls.ts',
    '../../{egress,instances,json,keys,policy}/*',
    '../../text/nearest.ts',
    '../../stores/ports.ts',
    '../../streams/create-pauses.ts',
    ...ODOO,
    CONTRACT,
    'node:*',
  ],
  upstream: [
    '../terms/*',
    '../thread/{large-calls,run-in-thread}.ts',
    '../../{approvals,egress,idempotency,json,limits,observe,sharing,streams}/*',
    '../../keys/{clients,keys,proxy-client}.ts',
    '../../limits/database/*',
    '../../policy/{abilities,may-name}.ts',
    '../../stores/ports.ts',
    '../../text/nearest.ts',
    '../../threads/shared-bytes.ts',
    ...ODOO,
    CONTRACT,
    'lru-cache',
    'node:*',
  ],
};

const BOUNDARIES: Boundary[] = [
  { files: 'packages/client/src/**', allow: [] },
  { files: 'packages/contract/src/**', allow: [] },
  // Pages are apart from each other: what two of them use is in parts/.
  { files: `${CONSOLE}/**`, allow: [] },
  { files: `${CONSOLE}/main.tsx`, allow: ['./app/*', ...CONSOLE_LIBRARIES] },
  { files: `${CONSOLE}/app/**`, allow: ['../{api,parts}/*', '../pages/*/*', ...CONSOLE_LIBRARIES] },
  { files: `${CONSOLE}/api/**`, allow: [CONTRACT, '@tanstack/react-query'] },
  { files: `${CONSOLE}/parts/**`, allow: ['../api/*', CONTRACT, ...CONSOLE_LIBRARIES] },
  {
    files: `${CONSOLE}/pages/**`,
    allow: [
      '../../app/root-route.ts',
      '../../{api,parts}/*',
      '../../parts/json-editor/{json-editor,json-view}.tsx',
      CONTRACT,
      ...CONSOLE_LIBRARIES,
    ],
  },
  { files: `${SANDBOX}/**`, allow: [] },
  { files: `${SANDBOX}/*.ts`, allow: ['./{data,http,json,rpc,versions}/*', 'node:{http,net}'] },
  { files: `${SANDBOX}/http/**`, allow: ['../{doc,json,orm,rpc,versions}/*', 'node:*', 'node:{http,net}'] },
  { files: `${SANDBOX}/rpc/**`, allow: ['../{data,json,models,orm,versions}/*', 'node:*'] },
  { files: `${SANDBOX}/doc/**`, allow: ['../{json,orm}/*'] },
  { files: `${SANDBOX}/models/**`, allow: ['../{data,json,orm}/*', '../orm/methods/*', 'node:*'] },
  { files: `${SANDBOX}/data/**`, allow: ['../{json,orm}/*', 'node:*'] },
  { files: `${SANDBOX}/versions/**`, allow: ['../{json,orm}/*'] },
  {
    files: `${SANDBOX}/orm/**`,
    allow: ['../json/*', '../versions/{personality,version-definition}.ts', './methods/*', 'node:*'],
  },
  { files: `${SANDBOX}/orm/methods/**`, allow: ['../*.ts', '../../json/*', 'node:*'] },
  { files: `${SANDBOX}/json/**`, allow: ['node:*'] },
  // A folder without a row may import nothing, so each new folder needs one.
  { files: `${SERVER}/**`, allow: [] },
  { files: `${SERVER}/main.ts`, allow: ['./{cli,config}/*', 'node:*'], deny: ['./*.ts'] },
  {
    files: `${SERVER}/app/**`,
    allow: ['../*/*', '../*/*/*', CONTRACT, 'node:*'],
    deny: ['../main.ts', '../cli/**'],
  },
  {
    files: `${SERVER}/cli/**`,
    allow: [
      '../{admin,app,audit,config,egress,instances,key-rotation,keys,observe,policy,stores,streams,tokens}/*',
      '../execute/call/explain.ts',
      '../json/{is-object,read-value}.ts',
      '../text/*',
      './{apply,completion,export,mcp,types}/*',
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
      '../../config/explain-yaml-error.ts',
      '../../json/is-object.ts',
      '../../text/nearest.ts',
      '../../instances/{members,redirection}.ts',
      '../../keys/key-name.ts',
      '../../policy/{parse,publishable}.ts',
      '../../subscriptions/members.ts',
      CONTRACT,
      'yaml',
      'node:*',
    ],
  },
  { files: `${SERVER}/cli/completion/**`, allow: ['../command.ts', '../../config/names.ts'] },
  { files: `${SERVER}/cli/types/**`, allow: ['../command.ts', '../../json/is-object.ts'] },
  { files: `${SERVER}/cli/export/**`, allow: [] },
  {
    files: `${SERVER}/cli/mcp/**`,
    allow: [
      '../../mcp/instructions.ts',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/stdio',
      'node:*',
    ],
  },
  {
    files: `${SERVER}/http/**`,
    allow: [
      '../{config,execute,observe,streams,threads}/*',
      '../execute/{request,terms}/*',
      '../mcp/mcp.ts',
      '../data/*/*',
      './{admin,connection,console,openapi,reference,shedding}/*',
      CONTRACT,
      'fastify',
      '@fastify/*',
      'lru-cache',
      'zod',
      'node:*',
      'node:{http,net}',
    ],
  },
  {
    files: `${SERVER}/http/admin/**`,
    allow: [
      '../../{admin,config,keys,observe,streams,text}/*',
      '../../audit/format.ts',
      '../../execute/terms/*',
      '../../execute/run-request.ts',
      '../../json/{document,members,read-value}.ts',
      '../../policy/{member-kinds,members}.ts',
      '../*.ts',
      '../openapi/call-schemas.ts',
      CONTRACT,
      'fastify',
      '@fastify/*',
      'lru-cache',
      'zod',
      'node:*',
    ],
  },
  {
    files: `${SERVER}/http/openapi/**`,
    allow: [
      '../*.ts',
      '../{admin,connection,shedding}/*',
      '../../{admin,config,streams}/*',
      '../../json/is-object.ts',
      '../../execute/terms/*',
      '../../execute/request/envelope.ts',
      '../../execute/run-request.ts',
      CONTRACT,
      'zod',
      'fastify',
      'node:*',
    ],
  },
  {
    files: `${SERVER}/http/connection/**`,
    allow: [
      '../*.ts',
      '../shedding/*',
      '../../execute/{request,terms}/*',
      '../../{streams,threads}/*',
      '../../text/header-lines.ts',
      CONTRACT,
      'node:*',
      'node:{http,net}',
    ],
  },
  { files: `${SERVER}/http/console/**`, allow: ['../{encoding,etag}.ts', 'fastify', 'node:*'] },
  { files: `${SERVER}/http/reference/**`, allow: ['fastify', 'node:*'] },
  {
    files: `${SERVER}/http/shedding/**`,
    allow: [],
  },
  {
    files: `${SERVER}/execute/*.ts`,
    allow: [
      './{request,call,upstream,terms}/*',
      './thread/{large-calls,run-in-thread}.ts',
      '../{keys,limits,observe,streams}/*',
      '../naming/name-records.ts',
      '../odoo/faults/faults.ts',
      '../policy/abilities.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  { files: `${SERVER}/execute/terms/**`, allow: EXECUTE.terms, takesClock: true },
  { files: `${SERVER}/execute/request/**`, allow: EXECUTE.request, keepsStepsApart: true, takesClock: true },
  { files: `${SERVER}/execute/call/**`, allow: EXECUTE.call, keepsStepsApart: true, takesClock: true },
  // These files run steps again.
  { files: `${SERVER}/execute/call/{check-again,explain}.ts`, allow: EXECUTE.call, takesClock: true },
  {
    files: `${SERVER}/execute/upstream/**`,
    allow: EXECUTE.upstream,
    keepsStepsApart: true,
    takesClock: true,
  },
  {
    files: `${SERVER}/data/**`,
    allow: [
      '../execute/call/{parse,read-members}.ts',
      '../execute/terms/{conversation,denial,parsed-body}.ts',
      '../{json,odoo,streams}/*',
      '../policy/{decide,may-name}.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/data/files/**`,
    allow: [
      '../*.ts',
      '../../execute/call/{explain-failure,read-members}.ts',
      '../../execute/request/envelope.ts',
      '../../execute/terms/{conversation,denial,field-finder,parsed-body,reply}.ts',
      '../../{json,streams}/*',
      '../../odoo/faults/faults.ts',
      '../../policy/may-name.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/data/changes/**`,
    allow: [
      '../*.ts',
      '../../execute/call/read-members.ts',
      '../../execute/request/{answer-headers,envelope}.ts',
      '../../execute/terms/{conversation,deadline,denial}.ts',
      '../../instances/instances.ts',
      '../../json/*',
      '../../streams/create-pauses.ts',
      '../../text/http-date.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/data/subscriptions/**`,
    allow: [
      '../*.ts',
      '../changes/*',
      '../../execute/call/{apply-field-rules,authorize,explain}.ts',
      '../../execute/run-request.ts',
      '../../execute/terms/denial.ts',
      '../../instances/instances.ts',
      '../../streams/single-flight-cache.ts',
      '../../{json,keys,subscriptions}/*',
      CONTRACT,
      'node:buffer',
      'node:crypto',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/subscriptions/**`,
    allow: [
      '../egress/dispatcher.ts',
      '../instances/vault.ts',
      '../observe/events.ts',
      '../stores/{new-subscription,ports,unknown-outcome-error}.ts',
      '../streams/*',
      '../text/http-date.ts',
      CONTRACT,
      'zod',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/data/export/**`,
    allow: [
      '../*.ts',
      '../../execute/call/read-members.ts',
      '../../execute/request/{answer-headers,reading-pace}.ts',
      '../../execute/terms/{conversation,denial}.ts',
      '../../{json,observe,streams}/*',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/execute/thread/**`,
    allow: [
      '../terms/*',
      '../call/{authorize,field-arguments,limit,parse,parse-json2,parse-version-question,related-verdict,written-call}.ts',
      '../upstream/{map-call,parse-answer}.ts',
      '../../{json,keys,policy,streams,threads}/*',
      ...ODOO,
      CONTRACT,
      'node:*',
    ],
  },
  {
    files: `${SERVER}/mcp/*.ts`,
    allow: [
      '../execute/thread/large-calls.ts',
      './tools/all-tools.ts',
      '../execute/terms/{conversation,denial,request}.ts',
      '../idempotency/call-names.ts',
      '../instances/instances.ts',
      '../json/{buffer,count-members,document,is-object}.ts',
      '../odoo/{local-time,other-names,time-zone}.ts',
      '../naming/*',
      '../policy/{abilities,compile}.ts',
      '../streams/*',
      '../text/nearest.ts',
      CONTRACT,
      '@modelcontextprotocol/server',
      'zod',
      'node:*',
    ],
    takesClock: true,
  },
  { files: `${SERVER}/mcp/documents/**`, allow: ['fflate', 'unpdf', 'node:*'] },
  {
    files: `${SERVER}/mcp/tools/**`,
    allow: [
      '../*.ts',
      '../documents/read-document.ts',
      '../../instances/instances.ts',
      '../../json/is-object.ts',
      '../../odoo/{grouping,local-day,local-time,methods,zoned-time}.ts',
      '../../policy/abilities.ts',
      '../../text/nearest.ts',
      CONTRACT,
      'zod',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/examine/**`,
    allow: [
      '../execute/{terms,upstream}/*',
      '../{egress,odoo,streams}/*',
      '../odoo/{faults,json2}/*',
      '../key-rotation/odoo-keys.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/traces/**`,
    allow: [
      '../egress/{dispatcher,fetch-whole,messages}.ts',
      '../execute/terms/{method-call,tracing}.ts',
      '../observe/events.ts',
      '../streams/wait.ts',
      '@opentelemetry/*',
      'node:*',
    ],
    takesClock: true,
  },
  { files: `${SERVER}/naming/**`, allow: ['../json/is-object.ts', CONTRACT], takesClock: true },
  { files: `${SERVER}/text/**`, allow: ['node:timers/promises'] },
  { files: `${SERVER}/threads/**`, allow: ['../streams/create-pauses.ts', 'node:*'], takesClock: true },
  { files: `${SERVER}/streams/**`, allow: [CONTRACT, 'lru-cache', 'node:*'], takesClock: true },
  { files: `${SERVER}/odoo/**`, allow: ['../json/*', CONTRACT, 'node:buffer'], takesClock: true },
  {
    files: `${SERVER}/odoo/faults/**`,
    allow: ['../*.ts', '../signatures/*', '../../json/*', CONTRACT, 'node:buffer'],
    takesClock: true,
  },
  {
    files: `${SERVER}/odoo/fields/**`,
    allow: ['../*.ts', '../../json/*', 'node:buffer'],
    takesClock: true,
  },
  {
    files: `${SERVER}/odoo/json2/**`,
    allow: ['../*.ts', '../{faults,signatures}/*', '../../json/*', CONTRACT, 'node:buffer'],
    takesClock: true,
  },
  {
    files: `${SERVER}/odoo/related/**`,
    allow: [
      '../*.ts',
      '../fields/field-methods.ts',
      '../{sensitive,signatures}/*',
      '../values/field-types.ts',
      '../../json/*',
      'node:buffer',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/odoo/sensitive/**`,
    allow: ['../*.ts', '../../json/*', 'node:buffer'],
    takesClock: true,
  },
  {
    files: `${SERVER}/odoo/values/**`,
    allow: ['../*.ts', '../../json/*', '../../streams/lent-piece.ts', CONTRACT, 'lru-cache', 'node:buffer'],
    takesClock: true,
  },
  { files: `${SERVER}/odoo/signatures/**`, allow: ['../../json/*', 'node:buffer'], takesClock: true },
  { files: `${SERVER}/json/**`, allow: [CONTRACT, 'node:buffer'], takesClock: true },
  {
    files: `${SERVER}/egress/**`,
    allow: [
      '../streams/*',
      '../text/header-lines.ts',
      'ipaddr.js',
      'lru-cache',
      'node:*',
      'node:{dns,net,tls}',
      'node:dns/promises',
    ],
  },
  {
    files: `${SERVER}/config/**`,
    allow: ['../stores/engines.ts', '../text/*', CONTRACT, 'zod', 'yaml', 'node:*', 'node:net'],
  },
  {
    files: `${SERVER}/keys/**`,
    allow: [
      '../json/read-value.ts',
      '../policy/*',
      '../stores/{fresh-cache,ports}.ts',
      '../streams/{at-most,batched-writes,periodic-task}.ts',
      CONTRACT,
      'ipaddr.js',
      'lru-cache',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/tokens/**`,
    allow: [
      '../{egress,keys,policy}/*',
      '../instances/{certificates,trust}.ts',
      '../json/{is-object,read-value}.ts',
      '../stores/{fresh-cache,ports}.ts',
      '../streams/*',
      CONTRACT,
      'jose',
      'lru-cache',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/policy/**`,
    allow: [
      '../text/nearest.ts',
      '../egress/address.ts',
      '../json/is-object.ts',
      '../odoo/{known-methods,methods,reading-context,record-count,time-zone}.ts',
      '../odoo/fields/{computed-fields,field-sources,field-uses,model-orders}.ts',
      '../odoo/related/{related-findings,related-reads,related-writes}.ts',
      '../odoo/sensitive/{delegating-models,sensitive-methods}.ts',
      '../odoo/values/field-types.ts',
      CONTRACT,
      'zod',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/instances/**`,
    allow: ['../{egress,odoo}/*', '../stores/{fresh-cache,ports}.ts', CONTRACT, 'lru-cache', 'zod', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/key-rotation/**`,
    allow: [
      '../{egress,instances,odoo}/*',
      '../json/is-object.ts',
      '../odoo/{faults,json2}/*',
      '../stores/ports.ts',
      CONTRACT,
      'lru-cache',
      'zod',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/statistics/**`,
    allow: [
      '../observe/events.ts',
      '../stores/ports.ts',
      '../streams/{periodic-task,single-flight}.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/audit/**`,
    allow: [
      '../observe/events.ts',
      '../stores/{audit-chain,ports}.ts',
      '../streams/*',
      '../text/{print-time,read-time}.ts',
      CONTRACT,
      'lru-cache',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/idempotency/**`,
    allow: ['../streams/*', '../stores/ports.ts', CONTRACT, 'lru-cache', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/approvals/**`,
    allow: [
      '../idempotency/{pending-releases,pruning}.ts',
      '../instances/vault.ts',
      '../streams/*',
      '../stores/ports.ts',
      CONTRACT,
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/limits/**`,
    allow: [
      '../share.ts',
      '../stores/{ports,unknown-outcome-error}.ts',
      '../streams/{batched-writes,single-flight}.ts',
      CONTRACT,
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/sharing/**`,
    allow: ['../streams/*', 'lru-cache', 'node:*'],
    takesClock: true,
  },
  {
    files: `${SERVER}/redis/**`,
    allow: [
      '../limits/*',
      '../limits/database/peers.ts',
      '../idempotency/answer-seal.ts',
      '../sharing/answer-store.ts',
      '../stores/ports.ts',
      '../streams/*',
      'ioredis',
      'lru-cache',
      'node:*',
    ],
  },
  // Test fixtures: a server that can be stopped, and its connections.
  {
    files: `${SERVER}/redis/*.fixture.ts`,
    allow: ['../../test/{time,wire}.ts', 'ioredis', 'node:*', 'node:{child_process,net,process}'],
  },
  {
    files: `${SERVER}/admin/**`,
    allow: [
      '../{approvals,audit,instances,key-rotation,keys,policy,statistics}/*',
      '../{approvals,audit,instances,key-rotation,keys,policy,subscriptions}/*',
      '../odoo/{known-methods,methods}.ts',
      '../odoo/signatures/*',
      '../stores/ports.ts',
      '../streams/{create-pauses,serial-queue}.ts',
      '../text/read-time.ts',
      CONTRACT,
      'zod',
      'node:*',
    ],
    takesClock: true,
  },
  {
    files: `${SERVER}/stores/*.ts`,
    allow: ['./*/{address,store}.ts', '../streams/*', 'lru-cache', CONTRACT, 'node:*'],
  },
  // Each engine. A driver is allowed for its own engine only.
  { files: `${SERVER}/stores/*/**`, allow: ['../*.ts', 'lru-cache', CONTRACT, 'node:*'] },
  {
    files: `${SERVER}/stores/sqlite/**`,
    allow: ['../*.ts', '../../streams/*', 'lru-cache', CONTRACT, 'node:*', 'node:sqlite'],
  },
  // node:tls for the certificates of the connection, which pg makes.
  {
    files: `${SERVER}/stores/postgres/**`,
    allow: ['../*.ts', '../../streams/*', CONTRACT, 'lru-cache', 'pg', 'node:*', 'node:tls'],
  },
  {
    files: `${SERVER}/observe/**`,
    allow: ['../streams/create-pauses.ts', '../text/print-time.ts', CONTRACT, 'prom-client', 'node:*'],
  },
];

/** Renders the linter's configuration from the table. Tests may import anything. */
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

/** In a group, the last glob that matches applies: `**` refuses all imports, `allow` and `deny` change that. */
function listPatterns(boundary: Boundary): object[] {
  const { files, allow, deny = [] } = boundary;
  const group = ['**', '!./*', ...allow.flatMap(expandAllowed), ...deny];
  const message = `${files} may import only: its own folder${['', ...allow].join(', ')}${deny.length ? `; not ${deny.join(', ')}` : ''}. The table is scripts/boundaries.ts.`;
  const patterns: object[] = [{ group, message }];
  if (boundary.keepsStepsApart) {
    const steps = `{${STEPS.join(',')}}.ts`;
    patterns.push({
      group: [`./${steps}`, `../{request,call,upstream}/${steps}`],
      // Names of types begin with a capital letter; the rule does not distinguish `import type`.
      importNamePattern: '[^A-Z].*',
      message: 'A step takes only types from another step. Code that two steps share is a file of its own.',
    });
  }
  return patterns;
}

function expandAllowed(specifier: string): string[] {
  if (specifier !== 'node:*') return [`!${specifier}`];
  return ['!node:*', '!node:*/**', `node:${GUARDED_MODULES}`, `node:${GUARDED_MODULES}/**`];
}

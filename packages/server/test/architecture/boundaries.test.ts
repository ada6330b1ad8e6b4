/**
 * Proves that the import rules apply: runs the lint configuration of the repository on probe files in a temporary folder,
 * with one line for each import. The imports are listed here, independently of the table that defines the rules.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFiles, readText, root } from './repository-files.ts';

const SERVER = 'packages/server/src';

/** The rules that protect the architecture. Other findings in a probe do not matter. */
const RULES = new Set([
  'noRestrictedImports',
  'noRestrictedGlobals',
  'noProcessEnv',
  'noCommonJs',
  'noImportCycles',
  'plugin',
]);

/** A file, a line of it, and the lint rule that must refuse the line. */
const FORBIDDEN: [file: string, code: string, rule: string][] = [
  ...refuseImports('packages/contract/src/probe.ts', ['node:buffer', 'zod', '../../server/src/app/app.ts']),
  ...refuseImports('packages/sandbox/src/http/probe.ts', [
    '@erp-proxy/contract',
    'erp-proxy',
    'undici',
    '../../../contract/src/index.ts',
    '../../../server/src/json/document.ts',
  ]),
  ...refuseImports('packages/sandbox/src/orm/probe.ts', [
    '../http/reply.ts',
    '../versions/version18.ts',
    'node:net',
  ]),
  ...refuseImports('packages/sandbox/src/newcomer/probe.ts', ['../orm/read.ts', 'node:fs']),
  ...refuseImports(`${SERVER}/main.ts`, ['./app/app.ts', './execute/run-request.ts', 'fastify']),
  ...refuseImports(`${SERVER}/app/probe.ts`, [
    '../main.ts',
    '../cli/serve.ts',
    'fastify',
    'undici',
    'node:sqlite',
  ]),
  ...refuseImports(`${SERVER}/cli/probe.ts`, [
    '../main.ts',
    '../execute/run-request.ts',
    '../http/server.ts',
  ]),
  ...refuseImports(`${SERVER}/http/probe.ts`, [
    '../app/app.ts',
    '../egress/dispatcher.ts',
    '../json/document.ts',
    '../odoo/faults.ts',
    '../stores/sqlite/store.ts',
    'undici',
    'node:https',
    'node:process',
  ]),
  ...refuseImports(`${SERVER}/execute/probe.ts`, [
    '../app/app.ts',
    '../cli/serve.ts',
    '../config/load.ts',
    '../http/server.ts',
    '../stores/memory/store.ts',
    '../stores/sqlite/store.ts',
    'fastify',
    'undici',
    'node:dns/promises',
    'node:http',
    'node:process',
    'node:sqlite',
  ]),
  ...refuseImports(`${SERVER}/odoo/probe.ts`, [
    '../execute/execute-call.ts',
    '../egress/policy.ts',
    './faults/faults.ts',
    'node:fs',
    'zod',
  ]),
  ...refuseImports(`${SERVER}/odoo/faults/probe.ts`, ['../json2/json2-answer.ts', '../../egress/policy.ts']),
  ...refuseImports(`${SERVER}/odoo/signatures/probe.ts`, ['../methods.ts', '../faults/faults.ts']),
  ...refuseImports(`${SERVER}/json/probe.ts`, ['../odoo/faults.ts', './../odoo/faults.ts', 'node:fs', 'zod']),
  ...refuseImports(`${SERVER}/egress/probe.ts`, [
    '../config/load.ts',
    '../execute/execute-call.ts',
    '@erp-proxy/contract',
    'fastify',
  ]),
  ...refuseImports(`${SERVER}/config/probe.ts`, [
    '../app/app.ts',
    '../keys/keys.ts',
    '../stores/open.ts',
    'undici',
  ]),
  ...refuseImports(`${SERVER}/keys/probe.ts`, [
    '../execute/execute-call.ts',
    '../stores/memory/store.ts',
    '../stores/sqlite/store.ts',
    'node:sqlite',
  ]),
  ...refuseImports(`${SERVER}/stores/probe.ts`, ['../keys/keys.ts', 'node:sqlite']),
  ...refuseImports(`${SERVER}/stores/sqlite/store.ts`, ['../../keys/keys.ts', 'node:http']),
  ...refuseImports(`${SERVER}/observe/probe.ts`, ['../execute/run-request.ts', 'fastify', 'node:http']),
  ...refuseImports(`${SERVER}/newcomer/probe.ts`, ['../app/app.ts', '@erp-proxy/contract', 'node:fs']),
  // The floors of execute/.
  ...refuseImports(`${SERVER}/execute/terms/probe.ts`, ['../call/base-url.ts', '../upstream/servers.ts']),
  ...refuseImports(`${SERVER}/execute/request/probe.ts`, ['../call/base-url.ts', '../upstream/servers.ts']),
  ...refuseImports(`${SERVER}/execute/call/probe.ts`, ['../upstream/servers.ts', '../run-call.ts']),
  ...refuseImports(`${SERVER}/execute/upstream/probe.ts`, ['../request/envelope.ts', '../run-call.ts']),
  // Every syntax of an import.
  [`${SERVER}/json/probe.ts`, "import type { X } from '../odoo/x.ts';", 'noRestrictedImports'],
  [`${SERVER}/json/probe.ts`, "export * from '../odoo/x.ts';", 'noRestrictedImports'],
  [`${SERVER}/json/probe.ts`, "await import('../odoo/x.ts');", 'noRestrictedImports'],
  [`${SERVER}/json/probe.ts`, "require('../odoo/x.ts');", 'noCommonJs'],
  // Steps.
  [`${SERVER}/execute/call/parse.ts`, "import { runStep } from './resolve.ts';", 'noRestrictedImports'],
  [`${SERVER}/execute/call/parse.ts`, "import * as resolve from './resolve.ts';", 'noRestrictedImports'],
  [`${SERVER}/execute/request/probe.ts`, "export { runStep } from './answer.ts';", 'noRestrictedImports'],
  ...refuseStepsOfToday(),
  // Circles of imports, even if they import only types.
  [`${SERVER}/json/egg.ts`, "import type { Hen } from './hen.ts';", 'noImportCycles'],
  [`${SERVER}/json/hen.ts`, "import type { Egg } from './egg.ts';", 'noImportCycles'],
  ['packages/sandbox/src/orm/egg.ts', "import { type Hen } from './hen.ts';", 'noImportCycles'],
  ['packages/sandbox/src/orm/hen.ts', "import { layEgg } from './egg.ts';", 'noImportCycles'],
  // The network, the environment and the clock.
  [`${SERVER}/execute/probe.ts`, "await fetch('https://example.com');", 'noRestrictedGlobals'],
  [`${SERVER}/http/probe.ts`, "new WebSocket('wss://example.com');", 'noRestrictedGlobals'],
  [`${SERVER}/app/app.ts`, 'process.env.HOME;', 'noProcessEnv'],
  [`${SERVER}/execute/probe.ts`, "process.env['HOME'];", 'noProcessEnv'],
  ['packages/sandbox/src/probe.ts', 'process.env.HOME;', 'noProcessEnv'],
  [`${SERVER}/execute/probe.ts`, 'Date.now();', 'plugin'],
  [`${SERVER}/keys/probe.ts`, 'new Date();', 'plugin'],
  [`${SERVER}/odoo/probe.ts`, 'performance.now();', 'plugin'],
  [`${SERVER}/json/probe.ts`, 'process.hrtime.bigint();', 'plugin'],
];

const ALLOWED: [file: string, code: string][] = [
  ...allowImports('packages/contract/src/probe.ts', ['./errors.ts']),
  ...allowImports('packages/sandbox/src/http/probe.ts', ['../orm/read.ts', './serve.ts', 'node:net']),
  ...allowImports('packages/sandbox/src/orm/probe.ts', ['../json/value.ts', '../versions/personality.ts']),
  ...allowImports(`${SERVER}/main.ts`, ['./cli/run.ts', 'node:fs']),
  ...allowImports(`${SERVER}/app/app.ts`, [
    '../http/server.ts',
    '../execute/run-request.ts',
    '../stores/open.ts',
  ]),
  ...allowImports(`${SERVER}/cli/probe.ts`, ['../app/app.ts', '../config/load.ts', '@erp-proxy/sandbox']),
  ...allowImports(`${SERVER}/http/probe.ts`, [
    '../execute/run-request.ts',
    'fastify',
    '@fastify/cors',
    'zod',
  ]),
  ...allowImports(`${SERVER}/execute/probe.ts`, [
    '../keys/keys.ts',
    './terms/denial.ts',
    './upstream/retry.ts',
    '@erp-proxy/contract',
    'node:timers/promises',
  ]),
  ...allowImports(`${SERVER}/execute/call/probe.ts`, [
    '../../text/nearest.ts',
    '../../odoo/methods.ts',
    '../../json/document.ts',
    '../terms/denial.ts',
  ]),
  ...allowImports(`${SERVER}/execute/upstream/probe.ts`, [
    '../../odoo/faults/faults.ts',
    '../../egress/dispatcher.ts',
    '../../stores/ports.ts',
  ]),
  [`${SERVER}/execute/call/parse.ts`, "import type { Target } from './resolve.ts';"],
  [`${SERVER}/execute/operations.ts`, "import { resolveTarget } from './call/resolve.ts';"],
  [`${SERVER}/execute/upstream/send-method.ts`, "import { sendOnce } from './send-once.ts';"],
  ...allowImports(`${SERVER}/odoo/probe.ts`, ['../json/document.ts', '@erp-proxy/contract']),
  ...allowImports(`${SERVER}/odoo/faults/probe.ts`, ['../arguments.ts', '../signatures/signatures.ts']),
  ...allowImports(`${SERVER}/json/probe.ts`, ['./scan.ts', 'node:buffer']),
  ...allowImports(`${SERVER}/egress/probe.ts`, ['node:dns', 'ipaddr.js']),
  ...allowImports(`${SERVER}/config/probe.ts`, ['zod', 'yaml', 'node:net']),
  ...allowImports(`${SERVER}/keys/probe.ts`, ['../stores/ports.ts', 'node:crypto']),
  ...allowImports(`${SERVER}/stores/sqlite/store.ts`, ['node:sqlite', '../ports.ts']),
  ...allowImports(`${SERVER}/observe/probe.ts`, ['prom-client']),
  ...allowImports(`${SERVER}/json/probe.test.ts`, ['vitest', '../stores/memory/store.ts']),
  [`${SERVER}/config/probe.ts`, 'process.env.HOME;'],
  [`${SERVER}/main.ts`, 'process.env.HOME;'],
  [`${SERVER}/execute/probe.ts`, 'new Date(0);'],
  [`${SERVER}/app/app.ts`, 'Date.now();'],
];

describe('import boundaries', () => {
  let folder: string;
  let breaches: Map<string, string[]>;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'erp-proxy-boundaries-'));
    for (const file of ['biome.json', 'biome.boundaries.json', 'scripts/clock.grit']) {
      cpSync(join(root, file), join(folder, file));
    }
    breaches = lintProbes(folder, [...FORBIDDEN, ...ALLOWED]);
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(FORBIDDEN)('refuses in %s: %s (%s)', (file, code, rule) => {
    expect(breaches.get(`${file}: ${code}`)).toEqual([rule]);
  });

  test.each(ALLOWED)('allows in %s: %s', (file, code) => {
    expect(breaches.get(`${file}: ${code}`)).toEqual([]);
  });
});

function refuseImports(file: string, specifiers: string[]): [string, string, string][] {
  return specifiers.map((specifier) => [file, `import '${specifier}';`, 'noRestrictedImports']);
}

function allowImports(file: string, specifiers: string[]): [string, string][] {
  return specifiers.map((specifier) => [file, `import '${specifier}';`]);
}

/** Every file that calls itself a step must be in the list of the rule. */
function refuseStepsOfToday(): [string, string, string][] {
  const steps = findFiles(`${SERVER}/execute/**/*.ts`).filter((file) =>
    /^\/\*\*\s+(\* )?Step:/.test(readText(file)),
  );
  expect(steps.length).toBeGreaterThan(10);
  return steps.flatMap((step) => {
    const fromBeside = `import { runStep } from './${basename(step)}';`;
    const fromAnother = `import { runStep } from '../${basename(dirname(step))}/${basename(step)}';`;
    return [
      [`${dirname(step)}/probe.ts`, fromBeside, 'noRestrictedImports'],
      [`${SERVER}/execute/terms/probe.ts`, fromAnother, 'noRestrictedImports'],
    ] satisfies [string, string, string][];
  });
}

/** Writes each probe as one line of its file, lints all files at once, and returns the rules that each line violates. */
function lintProbes(folder: string, probes: [file: string, code: string, rule?: string][]) {
  const linesOf = new Map<string, string[]>();
  for (const [file, code] of probes) {
    linesOf.set(file, [...(linesOf.get(file) ?? []), code]);
  }
  for (const [file, lines] of linesOf) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${lines.join('\n')}\n`);
  }
  const rules = new Map(probes.map(([file, code]) => [`${file}: ${code}`, [] as string[]]));
  for (const { category, location } of runLinter(folder)) {
    const rule = category.split('/').at(-1) ?? '';
    const code = linesOf.get(location.path)?.[location.start.line - 1];
    if (RULES.has(rule)) rules.get(`${location.path}: ${code}`)?.push(rule);
  }
  return rules;
}

interface Diagnostic {
  category: string;
  location: { path: string; start: { line: number } };
}

function runLinter(folder: string): Diagnostic[] {
  const biome = join(root, 'node_modules/.bin/biome');
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', '--vcs-enabled=false', 'packages'];
  const { stdout, stderr } = spawnSync(biome, args, { cwd: folder, encoding: 'utf8' });
  if (!stdout.startsWith('{')) throw new Error(`The linter did not run: ${stderr}`);
  return JSON.parse(stdout).diagnostics;
}

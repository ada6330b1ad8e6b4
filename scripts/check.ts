/**
 * Runs all checks. Every stage runs to its end, so that all errors are reported at once; if one stage failed, the
 * script fails. What a stage checks is configured in biome.json, tsconfig.json, knip.json and vitest.config.ts. `--all`
 * adds the heavy tests, a minute of fuzzing, and the tests that measure how long work keeps the event loop.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeFailures, listFailures, readTestReport, type TestFailure } from './test-report.ts';

interface Stage {
  name: string;
  /** The command that a person would type in the root of the repository. */
  command: string;
  /** Whether the stage runs tests, which write a report. */
  hasTests?: boolean;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFolder = mkdtempSync(join(tmpdir(), 'erp-proxy-check-'));
const isAll = process.argv.includes('--all');

const CHEAP: Stage[] = [
  { name: 'format, lint', command: 'npx biome check --error-on-warnings --max-diagnostics=50' },
  { name: 'types', command: 'npx tsc -p tsconfig.json' },
  { name: 'console types', command: 'npx tsc -p packages/console/tsconfig.json' },
  { name: 'dead code', command: 'npx knip --no-progress' },
  { name: 'docs', command: 'npm run docs -- --check' },
];
/** Stages of one list run at the same time. Fuzzing uses the processor while heavy tests wait. */
const TESTS: Stage[][] = [
  [{ name: 'tests', command: 'npx vitest run --project most', hasTests: true }],
  ...(isAll
    ? [
        [
          { name: 'heavy tests', command: 'npx vitest run --project heavy --project memory', hasTests: true },
          { name: 'fuzzing', command: 'npm run fuzz -- --seconds 60' },
        ],
        [{ name: 'blocking', command: 'npm run test:blocking --', hasTests: true }],
      ]
    : []),
];
const DETAIL_LINES_MAX = 500;

/** The failed tests of all stages: a log of CI may be cut in the middle, so they are named again at its end. */
const failures: TestFailure[] = [];

try {
  const startedMs = performance.now();
  const counts = await Promise.all(CHEAP.map(runStage));
  for (const stages of TESTS) counts.push(...(await Promise.all(stages.map(runStage))));
  const sum = (read: (each: Counts) => number) => counts.reduce((total, each) => total + read(each), 0);
  const failed = sum((each) => each.failed);
  const skipped = sum((each) => each.skipped);
  if (failures.length > 0) process.stdout.write(`\nFailed tests:\n${listFailures(failures)}\n`);
  process.stdout.write(`\nAll stages took ${printSeconds(startedMs)}.\n`);
  // CI parses this line. Each stage without tests counts as one check.
  const counted = `${sum((each) => each.passed)} passed, ${failed} failed`;
  process.stdout.write(`${counted}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(reportFolder, { recursive: true, force: true });
}

/** Prints one line for a stage that passed, or the failures of the stage. */
async function runStage(stage: Stage): Promise<Counts> {
  const startedMs = performance.now();
  const reportFile = join(reportFolder, `${stage.name}.json`);
  const reporters = ` --reporter=default --reporter=json --outputFile.json='${reportFile}'`;
  const { passed, output } = await run(`${stage.command}${stage.hasTests ? reporters : ''}`);
  const report = stage.hasTests ? readTestReport(reportFile, root) : null;
  process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${stage.name.padEnd(13)} ${printSeconds(startedMs)}`);
  if (report !== null) {
    process.stdout.write(`, ${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`);
  }
  process.stdout.write('\n');
  for (const { file, seconds } of report?.slow ?? []) {
    process.stdout.write(`       slow: ${seconds.toFixed(1)} s ${file}\n`);
  }
  failures.push(...(report?.failures ?? []));
  if (!passed) {
    // If no test failed, the output has the reason: a tool's findings, or an error outside any test.
    const details = report?.failures.length
      ? `${cutDetails(output)}\n${describeFailures(report.failures)}`
      : `${output.trimEnd()}\n`;
    process.stdout.write(`\n${details}\nRepeat the stage: ${stage.command}\n\n`);
  }
  const failed = passed ? 0 : Math.max(1, report?.failed ?? 1);
  return report === null
    ? { passed: passed ? 1 : 0, failed, skipped: 0 }
    : { passed: report.passed, failed, skipped: report.skipped };
}

/** The part of Vitest's output about failures, with differences and lines of code, which its report does not have. */
function cutDetails(output: string): string {
  const lines = output.split('\n');
  const start = lines.findIndex((line) => /⎯ Failed (Tests|Suites) /.test(line));
  return start === -1 ? '' : lines.slice(start, start + DETAIL_LINES_MAX).join('\n');
}

function run(command: string): Promise<{ passed: boolean; output: string }> {
  // The tools start with `#!/usr/bin/env node`, so PATH must begin with the folder of the Node that runs this script.
  const path = [dirname(process.execPath), join(root, 'node_modules/.bin'), process.env['PATH']];
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command.replace(/^npx /, ''), {
      shell: true,
      cwd: root,
      // Colours would prevent finding texts in the output; vitest turns them on if CI is set.
      env: { ...process.env, PATH: path.join(delimiter), NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const collect = (chunk: string) => {
      output += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ passed: false, output: `${command}: ${error.message}` }));
    child.on('close', (code) => resolve({ passed: code === 0, output }));
  });
}

function printSeconds(startedMs: number): string {
  return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

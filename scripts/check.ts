/**
 * Runs all checks. Every stage runs to its end, so that all errors are reported at once; if one stage failed, the
 * script fails. What a stage checks is configured in biome.json, tsconfig.json, knip.json and vitest.config.ts. `--all`
 * adds the tests that flood the proxy, kill processes or measure memory, which take some minutes.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Stage {
  name: string;
  command: [string, ...string[]];
  /** Extracts a summary of a success from the output; default: none. */
  summarize?: (output: string) => string;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFolder = mkdtempSync(join(tmpdir(), 'erp-proxy-check-'));
const reportFile = join(reportFolder, 'vitest.json');

const CHEAP: Stage[] = [
  { name: 'format, lint', command: ['biome', 'check', '--error-on-warnings', '--max-diagnostics=50'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'console types', command: ['tsc', '-p', 'packages/console/tsconfig.json'] },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'docs', command: ['node', 'scripts/docs.ts', '--check'] },
];
const projects = process.argv.includes('--all') ? [] : ['--project', 'most'];
const TESTS: Stage = {
  name: 'tests',
  command: [
    'vitest',
    'run',
    ...projects,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ],
  summarize: (output) => /\n Test Files[\s\S]*?(?=\n\n|$)/.exec(output)?.[0] ?? '',
};
const SLOWEST_SHOWN = 10;

try {
  const cheap = await Promise.all(CHEAP.map(runStage));
  const tests = countTests(await runStage(TESTS));
  process.stdout.write(listSlowest());
  const failedStages = cheap.filter((passed) => !passed).length;
  const passed = tests.passed + cheap.length - failedStages;
  const failed = tests.failed + failedStages;
  // CI parses this line. Each stage but the tests counts as one check.
  const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : '';
  process.stdout.write(`\n${passed} passed, ${failed} failed${skipped}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(reportFolder, { recursive: true, force: true });
}

/** True if the stage passed. Its output is printed only if it failed. */
async function runStage(stage: Stage): Promise<boolean> {
  const startedMs = performance.now();
  const { passed, output } = await run(stage.command);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const shown = passed ? (stage.summarize?.(output) ?? '') : `\n${output.trimEnd()}\n`;
  process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${stage.name.padEnd(13)}${seconds} s${shown}\n`);
  return passed;
}

function run([command, ...args]: [string, ...string[]]): Promise<{ passed: boolean; output: string }> {
  // The tools start with `#!/usr/bin/env node`, so PATH must begin with the Node that runs this script.
  const path = [dirname(process.execPath), join(root, 'node_modules/.bin'), process.env['PATH']];
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      cwd: root,
      // Colours would break the summary line; vitest turns them on if CI is set.
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

/** The slowest test files, from vitest's report. */
function listSlowest(): string {
  try {
    const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8'));
    const files: [seconds: number, path: string][] = testResults.map(
      (file: { name: string; startTime: number; endTime: number }) => [
        (file.endTime - file.startTime) / 1000,
        relative(root, file.name),
      ],
    );
    const slowest = files.toSorted(([one], [other]) => other - one).slice(0, SLOWEST_SHOWN);
    const lines = slowest.map(([seconds, path]) => `${seconds.toFixed(1).padStart(8)} s  ${path}`);
    return `\nSlowest test files:\n${lines.join('\n')}\n`;
  } catch {
    return '';
  }
}

/**
 * Counts from vitest's report. A failed run without a failed test (a file that does not load) counts as one failure.
 */
function countTests(passed: boolean): Counts {
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8'));
    return {
      passed: report.numPassedTests,
      failed: passed ? 0 : Math.max(1, report.numFailedTests),
      skipped: report.numPendingTests + report.numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** Tests the output of `npm run check` for failed tests. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFailures, readTestReport } from '../../../../scripts/test-report.ts';
import { closeAfterTest } from '../close-after-test.ts';

const ROOT = '/checkout';
const NO_COUNTS = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };

interface Outcome {
  fullName: string;
  status: 'passed' | 'failed';
  startTime: number;
  duration: number;
  failureMessages: string[];
}

const passed = (fullName: string): Outcome => ({
  fullName,
  status: 'passed',
  startTime: 0,
  duration: 1,
  failureMessages: [],
});
const failed = (fullName: string, startTime: number): Outcome => ({
  ...passed(fullName),
  status: 'failed',
  startTime,
  failureMessages: [`${fullName} was expected`],
});

function readReport(files: Record<string, Outcome[]>, seconds = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-test-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  const testResults = Object.entries(files).map(([name, assertionResults]) => ({
    name: join(ROOT, name),
    status: assertionResults.some(({ status }) => status === 'passed') ? 'passed' : 'failed',
    message: assertionResults.length === 0 ? 'no such module' : '',
    startTime: 0,
    endTime: seconds * 1000,
    assertionResults,
  }));
  const file = join(folder, 'report.json');
  writeFileSync(file, JSON.stringify({ ...NO_COUNTS, testResults }));
  return readTestReport(file, ROOT);
}

test('failures are in the order of time, whatever the order of files', () => {
  const report = readReport({
    'late.test.ts': [failed('c', 900)],
    'early.test.ts': [failed('a', 100), passed('x'), failed('b', 500)],
  });
  expect(report?.failures.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  const text = describeFailures(report?.failures ?? []);
  expect(text.indexOf('Failed first: early.test.ts > a\na was expected')).toBe(0);
  expect(text).toContain("Repeat: npx vitest run early.test.ts -t 'a'\n");
  expect(text).toContain('Failed then:\n  early.test.ts > b\n    b was expected\n');
  expect(text).toContain('Failed last: late.test.ts > c\nc was expected\n');
});

test('a file that does not load is a failure, which is repeated without a name', () => {
  const report = readReport({ 'broken.test.ts': [] });
  expect(report).toMatchObject({ failed: 1, failures: [{ name: null, message: 'no such module' }] });
  const text = describeFailures(report?.failures ?? []);
  expect(text).toContain('Repeat: npx vitest run broken.test.ts\n');
  expect(text).not.toContain('Failed last');
});

test('the command that repeats a test has its name as the shell and the regular expression need it', () => {
  const report = readReport({ 'one.test.ts': [failed("isn't [a] $1 (b)", 1)] });
  const command = /Repeat: (.*)/.exec(describeFailures(report?.failures ?? []))?.[1] ?? '';
  const printed = execFileSync('sh', ['-c', command.replace('npx vitest', 'printf "%s\\n"')], {
    encoding: 'utf8',
  });
  const pattern = printed.trimEnd().split('\n').at(-1) ?? '';
  expect("isn't [a] $1 (b)").toMatch(new RegExp(`^${pattern}$`));
});

test('files that took longer than ten seconds are slow', () => {
  expect(readReport({ 'slow.test.ts': [passed('a')] }, 11)?.slow).toEqual([
    { file: 'slow.test.ts', seconds: 11 },
  ]);
  expect(readReport({ 'quick.test.ts': [passed('a')] }, 9)?.slow).toEqual([]);
});

test('without a report there is nothing to count', () => {
  expect(readTestReport('/does/not/exist.json', ROOT)).toBeNull();
});

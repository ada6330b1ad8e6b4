/** Reads vitest's JSON report: counts, failed tests and slow files. Independent of the stages of a check. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

export interface TestReport {
  passed: number;
  failed: number;
  skipped: number;
  /** The failures in the order in which they occurred. A file that did not load is one failure without a name. */
  failures: TestFailure[];
  /** Test files that took longer than {@link SLOW_SECONDS}, the slowest first. */
  slow: { file: string; seconds: number }[];
}

export interface TestFailure {
  /** Path from the root. */
  file: string;
  /** Null if the file did not load. */
  name: string | null;
  message: string;
}

/** The parts of vitest's report that are used. Times are milliseconds since 1970. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: {
      fullName: string;
      status: string;
      startTime?: number;
      duration?: number | null;
      failureMessages?: string[] | null;
    }[];
  }[];
}

const SLOW_SECONDS = 10;
/** Maximum number of printed lines of a failure: the message and the frames of our own files. */
const LINES_MAX = 40;
/** Maximum number of failures in a list of names. */
const NAMES_MAX = 50;

/** Null if there is no report: vitest ended before it could write one. */
export function readTestReport(file: string, root: string): TestReport | null {
  let report: VitestReport;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
  const failures = report.testResults.flatMap((result): (TestFailure & { endedMs: number })[] => {
    const path = relative(root, result.name);
    const tests = result.assertionResults.filter(({ status }) => status === 'failed');
    if (result.status === 'failed' && tests.length === 0) {
      return [{ file: path, name: null, message: result.message, endedMs: result.endTime }];
    }
    return tests.map((test) => ({
      file: path,
      name: test.fullName,
      message: test.failureMessages?.join('\n') ?? '',
      endedMs: (test.startTime ?? result.startTime) + (test.duration ?? 0),
    }));
  });
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: failures
      .toSorted((one, other) => one.endedMs - other.endedMs)
      .map(({ file: path, name, message }) => ({ file: path, name, message })),
    slow: report.testResults
      .map(({ name, startTime, endTime }) => ({
        file: relative(root, name),
        seconds: (endTime - startTime) / 1000,
      }))
      .filter(({ seconds }) => seconds > SLOW_SECONDS)
      .toSorted((one, other) => other.seconds - one.seconds),
  };
}

/**
 * Describes the first and the last failures with the commands that repeat them, and lists the names of the other
 * failures.
 */
export function describeFailures(failures: readonly TestFailure[]): string {
  const [first] = failures;
  if (first === undefined) return '';
  const between = failures.slice(1, -1);
  return [
    `Failed first: ${describeFailure(first)}`,
    ...(between.length === 0 ? [] : [`Failed then:\n${listFailures(between)}\n`]),
    ...(failures.length === 1 ? [] : [`Failed last: ${describeFailure(failures.at(-1) ?? first)}`]),
  ].join('\n');
}

/** Two lines for each failure: its name, and the first line of its message. */
export function listFailures(failures: readonly TestFailure[]): string {
  const names = failures
    .slice(0, NAMES_MAX)
    .map((each) => `  ${nameTest(each)}\n    ${firstLine(each.message)}`);
  if (failures.length > NAMES_MAX) names.push(`  and ${failures.length - NAMES_MAX} more`);
  return names.join('\n');
}

function describeFailure(failure: TestFailure): string {
  const lines = failure.message.split('\n').filter((line) => !line.includes('/node_modules/'));
  const message = lines.slice(0, LINES_MAX).join('\n');
  return `${nameTest(failure)}\n${message}\nRepeat: ${printCommand(failure)}\n`;
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';

function nameTest({ file, name }: TestFailure): string {
  return name === null ? file : `${file} > ${name}`;
}

/** vitest takes a name as a regular expression, and the shell a quote as the end of the argument. */
function printCommand({ file, name }: TestFailure): string {
  const command = `npx vitest run ${file}`;
  if (name === null) return command;
  return `${command} -t '${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/'/g, '.')}'`;
}

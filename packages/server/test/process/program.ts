/** For tests: starts the real program as a child process. Children and folders are removed after each test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closeAfterTest } from '../close-after-test.ts';
import { type HttpAnswer, send } from '../harness.ts';

/** Matches a client key in the output of a program. */
export const KEY = /\bep_\w+/;

/** The file that starts the program: bundled in heavy tests (`bundle-for-tests.ts`), otherwise from the sources. */
export const ENTRY =
  process.env['BUNDLED_PROGRAM'] ?? fileURLToPath(new URL('../../bin/erp-proxy.mjs', import.meta.url));
const SHELL = 'sh';
/** Shorter than the time limit of a test, so that a failure shows the output. */
const OUTPUT_MS_MAX = 90_000;

/** Kills a child. If the child is a shell, also kills all processes that it started, which may have outlived it. */
function killChild(child: ChildProcess): void {
  if (child.spawnfile === SHELL) process.kill(-(child.pid as number), 'SIGKILL');
  else child.kill('SIGKILL');
}

/** Creates an empty folder, which is removed after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-test-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true, force: true }) });
  return folder;
}

export interface Ended {
  /** Exit status; null if a signal ended the process. */
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Program {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Writes to standard input and closes it. */
  input(text: string): void;
  /** Stops reading its standard output, but keeps it open. */
  pauseReading(): void;
  /** Begins to read its standard output, after `isUnread` or `pauseReading`. */
  resumeReading(): void;
  /** Closes the reading end of its standard output. */
  stopReading(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves to the first match in standard output. Rejects if the program ends without a match, or takes too long. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
}

export interface ProgramOptions {
  folder: string;
  env?: Record<string, string>;
  /** True: its standard output is not read at first. */
  isUnread?: boolean;
}

export function startProgram(args: readonly string[], options: ProgramOptions): Program {
  return start(process.execPath, [ENTRY, ...args], options);
}

/** Whether {@link startOnTerminal} can be used here: `script` of util-linux, which Debian always has. */
export const HAS_TERMINAL = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/**
 * Runs a shell command on a separate terminal. Its outputs are merged, with the line ends of a terminal. Signals go to
 * the command: `script` itself would wait two seconds for its end.
 */
export function startOnTerminal(line: string, options: ProgramOptions): Program {
  const args = ['--quiet', '--flush', '--return', '--command', line, '/dev/null'];
  const script = start('script', args, options);
  return Object.assign(script, {
    kill: (signal: NodeJS.Signals) => {
      for (const pid of listChildren(script.pid)) process.kill(pid, signal);
    },
  });
}

/** The processes that a process has started (proc(5)). */
export function listChildren(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** The shell command that runs the program. */
export function printLine(args: readonly string[]): string {
  return ['exec', process.execPath, ENTRY, ...args]
    .map((word) => `'${word}'`)
    .join(' ')
    .replace("'exec'", 'exec');
}

/** Runs a shell command. */
export function startShell(line: string, options: ProgramOptions): Program {
  return start(SHELL, ['-c', line], options);
}

function start(
  command: string,
  args: readonly string[],
  { folder, env = {}, isUnread = false }: ProgramOptions,
): Program {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
    detached: command === SHELL,
  });
  child.stdin.on('error', () => {});
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  if (isUnread) child.stdout.pause();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let isOver = false;
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status) => {
      isOver = true;
      resolve({ status, stdout, stderr });
    });
  });
  closeAfterTest({
    close() {
      if (!isOver) killChild(child);
      return ended;
    },
  });
  return {
    pid: child.pid as number,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    input: (text) => child.stdin.end(text),
    pauseReading: () => void child.stdout.pause(),
    resumeReading: () => void child.stdout.resume(),
    stopReading: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    waitFor(pattern) {
      return new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why} without ${pattern}: ${stdout}${stderr}`));
        AbortSignal.timeout(OUTPUT_MS_MAX).onabort = () => fail('time was over');
        const check = () => {
          const match = pattern.exec(stdout);
          if (match === null) return;
          child.stdout.off('data', check);
          resolve(match);
        };
        child.stdout.on('data', check);
        void ended.then(() => fail('ended'));
        check();
      });
    },
    ended,
  };
}

/** Runs a command to its end. */
export function runProgram(
  args: readonly string[],
  { input = '', ...options }: ProgramOptions & { input?: string },
): Promise<Ended> {
  const program = startProgram(args, options);
  program.input(input);
  return program.ended;
}

export interface Server extends Program {
  url: string;
  /** Arguments with which other commands work on the store of the server. */
  settings: readonly string[];
  options: ProgramOptions;
}

/** Starts `serve` on a free port. Resolves when it listens. */
export async function startServer(args: readonly string[], options: ProgramOptions): Promise<Server> {
  const program = startProgram(['serve', '--http.port=0', ...args], options);
  const [, url] = await program.waitFor(/"url":"(http:[^"]+)"/);
  return Object.assign(program, { url: url as string, settings: args, options });
}

/** Creates a client key on the store of a server with the command. */
export async function makeKey({ settings, options }: Server): Promise<string> {
  const { status, stdout, stderr } = await runProgram(
    ['keys', 'create', '--name=test', ...settings],
    options,
  );
  if (status !== 0) throw new Error(`keys create ended with ${status}: ${stderr}`);
  return stdout.trim();
}

/** Calls the execute route on a new connection. A primary distributes connections to its workers in turn. */
export function callServer({ url }: Server, key: string, call: object): Promise<HttpAnswer> {
  return send(`${url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
}

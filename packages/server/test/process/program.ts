/** The real program as a child process, in a folder of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type HttpAnswer, send } from '../harness.ts';

/** A client key where a program has printed one. */
export const KEY = /\bep_\w+/;

const ENTRY = fileURLToPath(new URL('../../bin/erp-proxy.mjs', import.meta.url));
const SHELL = 'sh';
const TIMEOUT_MS = 10_000;

const folders: string[] = [];
const running = new Set<ChildProcess>();
afterEach(async () => {
  await Promise.all([...running].map(endChild));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Ends a child that still runs; of a shell, all that it has started. */
function endChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    if (child.spawnfile === SHELL) process.kill(-(child.pid as number), 'SIGKILL');
    else child.kill('SIGKILL');
  });
}

/** An empty folder that goes after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-test-'));
  folders.push(folder);
  return folder;
}

export interface Ended {
  /** Exit status; null where a signal ended it. */
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
  /** Reads its standard output, where it was started unread. */
  resumeReading(): void;
  /** Closes our end of its standard output. */
  stopReading(): void;
  kill(signal: NodeJS.Signals): void;
  /** The first match in standard output; fails where the program ends or the time is over without one. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
}

export interface ProgramOptions {
  folder: string;
  env?: Record<string, string>;
  /** Nobody reads its standard output at first. */
  isUnread?: boolean;
}

export function startProgram(args: readonly string[], options: ProgramOptions): Program {
  return start(process.execPath, [ENTRY, ...args], options);
}

/** Whether {@link startOnTerminal} can be used here: `script` of util-linux, which Debian always has. */
export const HAS_TERMINAL = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/** A line of shell whose program has a terminal of its own. Both outputs come as one, with the line ends of a terminal. */
export function startOnTerminal(line: string, options: ProgramOptions): Program {
  return start('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], options);
}

/** The line of shell that runs the program. */
export function printLine(args: readonly string[]): string {
  return ['exec', process.execPath, ENTRY, ...args]
    .map((word) => `'${word}'`)
    .join(' ')
    .replace("'exec'", 'exec');
}

/** A line of shell, as a person types it. */
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
  running.add(child);
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
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status) => {
      running.delete(child);
      resolve({ status, stdout, stderr });
    });
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
    resumeReading: () => void child.stdout.resume(),
    stopReading: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    waitFor(pattern) {
      return new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why} without ${pattern}: ${stdout}${stderr}`));
        const timer = setTimeout(fail, TIMEOUT_MS, 'time is over');
        const look = () => {
          const match = pattern.exec(stdout);
          if (match === null) return;
          clearTimeout(timer);
          child.stdout.off('data', look);
          resolve(match);
        };
        child.stdout.on('data', look);
        void ended.then(() => fail('ended'));
        look();
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
  /** How it was started: other commands with these work on its store. */
  settings: readonly string[];
  options: ProgramOptions;
}

/** `serve` on a free port, until it listens. */
export async function startServer(args: readonly string[], options: ProgramOptions): Promise<Server> {
  const program = startProgram(['serve', '--http.port=0', ...args], options);
  const [, url] = await program.waitFor(/"url":"(http:[^"]+)"/);
  return Object.assign(program, { url: url as string, settings: args, options });
}

/** A client key on the store of a server, made as an operator makes one. */
export async function makeKey({ settings, options }: Server): Promise<string> {
  const { status, stdout, stderr } = await runProgram(
    ['keys', 'create', '--name=test', ...settings],
    options,
  );
  if (status !== 0) throw new Error(`keys create ended with ${status}: ${stderr}`);
  return stdout.trim();
}

/** The execute route, on a connection of its own: a primary gives its workers a connection each, in turn. */
export function callServer({ url }: Server, key: string, call: object): Promise<HttpAnswer> {
  return send(`${url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
}

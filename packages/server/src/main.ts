/** The program: connects the command line to the process, and exits with its status. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { untilLauncherEnds } from './cli/launcher.ts';
import { replaceFile } from './cli/replace-file.ts';
import type { RunOptions } from './cli/run.ts';
import { VERSION_WORDS } from './cli/version-words.ts';
import { receiveSettings } from './cli/workers-settings.ts';

/** Signals within this time after the first one repeat it. */
const ECHO_MS = 300;
/** Time for the reader of the log to take its last lines after a stop. */
const LAST_LINES_MS = 2000;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

let runsUntilStopped = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A full disk or a log collector that went away must not stop the server.
  if (runsUntilStopped) return;
  // EPIPE: the reader of the output has exited, as `head` does after enough lines.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written (${error.code}): it is not whole.\n`);
  }
  process.exit(1);
});

const [first, ...others] = process.argv.slice(2);
if (others.length === 0 && VERSION_WORDS.includes(first ?? '')) process.stdout.write(`${version}\n`);
else {
  process.exitCode = await runProgram();
  // Lines that nobody reads must not keep a stopped server running.
  if (runsUntilStopped) setTimeout(() => process.exit(), LAST_LINES_MS).unref();
}

async function runProgram(): Promise<number> {
  const { runCommandLine } = await import('./cli/run.ts');
  const { readTextFile } = await import('./config/read-text-file.ts');
  const { readSecretsFile } = await import('./config/secrets-file.ts');
  const given = await receiveSettings(process, process.env);
  const options: RunOptions = {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    readFile: readTextFile,
    readSecrets: readSecretsFile,
    version,
    ...(given === null ? {} : { given }),
  };
  return runCommandLine(options, {
    print: (text) => process.stdout.write(text),
    untilTaken,
    isTerminal: process.stdout.isTTY === true,
    isErrorTerminal: process.stderr.isTTY === true,
    ask: process.stdin.isTTY && process.stderr.isTTY ? ask : null,
    complain: (text) => process.stderr.write(text),
    readInput: (path) => (path === '-' ? buffer(process.stdin) : readFile(path)),
    writeFile: replaceFile,
    untilStopped,
  });
}

/** Standard error has the question: standard output may go to a file. The end of the input is an empty answer. */
async function ask(question: string, signal?: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.on('close', () => resolve(''));
    signal?.addEventListener('abort', () => lines.close(), { once: true });
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** Resolves once the output was taken. If its reader has exited, the listener for errors above ends the program. */
async function untilTaken(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
}

/**
 * Resolves at the first signal. A second one ends the program at once, unless it only repeats the first: npm forwards a
 * Ctrl-C that the terminal has also sent to this process.
 */
function untilStopped(): Promise<void> {
  runsUntilStopped = true;
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const stop = () => {
      if (firstMs !== null && performance.now() - firstMs > ECHO_MS) process.exit(1);
      firstMs ??= performance.now();
      resolve();
    };
    // SIGHUP: its terminal was closed. Node would end at once, and break off running calls.
    process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop);
    // Node would open its debugger to all users of the machine, and SIGUSR2 would end the program: both are sent to
    // other servers to make them open their log anew.
    process.on('SIGUSR1', () => {}).on('SIGUSR2', () => {});
    void untilLauncherEnds(process.env).then(resolve);
  });
}

/** The program: gives the command line its surroundings and takes its exit status. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { runCommandLine } from './cli/run.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

process.exitCode = await runCommandLine(
  {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    readFile: (path) => readFileSync(path, 'utf8'),
    version,
  },
  {
    print: (text) => process.stdout.write(text),
    complain: (text) => process.stderr.write(text),
    readInput: (path) => (path === '-' ? buffer(process.stdin) : readFile(path)),
    untilStopped,
  },
);

/** A second signal ends the program at once. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
  });
}

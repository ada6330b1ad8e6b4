/** For tests: runs Python with the client of this package on its path. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const PACKAGE: string = fileURLToPath(new URL('..', import.meta.url));

/** The environment in which Python finds the sources. Warnings such as unclosed sockets are errors on stderr. */
export const PYTHON_ENV: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  PYTHONPATH: `${PACKAGE}src`,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONWARNINGS: 'always::ResourceWarning',
};

export interface PythonDriver {
  /** Sends a value as a line of JSON, and resolves to the line that the program answers. */
  run(value: unknown): Promise<unknown>;
  close(): void;
}

/** Starts a program that answers each line of JSON by another one. */
export function startDriver(args: readonly string[]): PythonDriver {
  const child = spawn('python3', args, { env: PYTHON_ENV, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    async run(value) {
      child.stdin.write(`${JSON.stringify(value)}\n`);
      const { value: line, done } = await lines.next();
      if (done || errors !== '') throw new Error(`The program printed errors:\n${errors}`);
      return JSON.parse(line);
    },
    close: () => child.stdin.end(),
  };
}

/** Runs the real program on one port and one store, kills it with `kill -9` and starts it again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../packages/server/bin/erp-proxy.mjs', import.meta.url));

export class KillableProxy {
  readonly #folder: string;
  readonly #flags: string[];
  #child: ChildProcess | null = null;
  readonly #failure = Promise.withResolvers<never>();
  /** Rejects if the proxy ends before it is killed. */
  readonly failed = this.#failure.promise;

  constructor(folder: string, settings: Record<string, string>) {
    this.#folder = folder;
    this.#flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  }

  /** Starts the proxy, without waiting until it listens. */
  start(): void {
    const log = openSync(join(this.#folder, 'proxy.log'), 'a');
    const child = spawn(process.execPath, [BIN, 'serve', ...this.#flags], {
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    child.once('exit', (code, signal) => {
      if (child !== this.#child) return;
      this.#child = null;
      this.#failure.reject(new Error(`the proxy exited without being killed (${code ?? signal})`));
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/**
 * Finds a free port below the ephemeral ports, which begin at 32768. Otherwise a client that calls while the proxy is
 * away could get the proxy's port as its own local port, or even connect to itself.
 */
export async function findServerPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

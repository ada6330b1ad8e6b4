/** For tests: separate names on a shared server, and a separate server that a test may break. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { Redis } from 'ioredis';

export interface TestNames {
  prefix: string;
  /** Simulates a loss of data: removes all values under the prefix, and all cached scripts. */
  lose(): Promise<void>;
  /** Removes all remaining values. */
  drop(): Promise<void>;
}

export function createTestNames(url: string): TestNames {
  const prefix = `erp-proxy-test-${randomBytes(6).toString('hex')}`;
  const connection = new Redis(url);
  const remove = async () => {
    const keys = await connection.keys(`${prefix}:*`);
    if (keys.length > 0) await connection.del(keys);
  };
  return {
    prefix,
    async lose() {
      await remove();
      await connection.script('FLUSH');
    },
    async drop() {
      await remove();
      connection.disconnect();
    },
  };
}

export interface TestServer {
  url: string;
  /** Runs an administrative command, such as `CONFIG SET maxmemory 1`. */
  command(...words: string[]): Promise<unknown>;
  /** Kills the server. Its data is lost. */
  kill(): Promise<void>;
  /** Starts the server on the same port as before. */
  start(): Promise<void>;
}

/** Starts a server. Requires the program redis-server. */
export async function startTestServer(): Promise<TestServer> {
  const port = await findFreePort();
  let child: ChildProcess;
  const server: TestServer = {
    url: `redis://127.0.0.1:${port}`,
    async command(name = '', ...words) {
      // The driver reconnects until the new server listens.
      const connection = new Redis(port).on('error', () => {});
      try {
        return await connection.call(name, ...words);
      } finally {
        connection.disconnect();
      }
    },
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    async start() {
      const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()];
      child = spawn('redis-server', options, { stdio: 'ignore' });
      await server.command('PING');
    },
  };
  await server.start();
  return server;
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** For tests: names of their own on a real server, so that they do not meet; and a server of their own to be broken. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { Redis } from 'ioredis';

export interface TestNames {
  prefix: string;
  /** All that is kept under the prefix is lost, and Redis knows no script any more. */
  lose(): Promise<void>;
  /** Removes what is left. */
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
  /** Runs a command of the operator's, e.g. `CONFIG SET maxmemory 1`. */
  command(...words: string[]): Promise<unknown>;
  /** Kills it; it keeps nothing. */
  kill(): Promise<void>;
  /** On the same port as before. */
  start(): Promise<void>;
}

/** Needs the program redis-server. */
export async function startTestServer(): Promise<TestServer> {
  const port = await findFreePort();
  let child: ChildProcess;
  const server: TestServer = {
    url: `redis://127.0.0.1:${port}`,
    async command(name = '', ...words) {
      // It connects anew until the server that was just started listens.
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

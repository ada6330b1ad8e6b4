/** Starts a PostgreSQL server for one test, which may stop and restart it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pause } from './time.ts';

const BASE = '/usr/lib/postgresql';

/** Why no server can be started on this machine; null: it can. */
export const clusterMissing: string | null =
  findPrograms() === null ? `no PostgreSQL programs below ${BASE}` : null;

export interface Cluster {
  /** Address of a database on the server. */
  url: string;
  /** Kills the server without notice to its clients, like a crash, and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const programs = findPrograms();
  if (programs === null) throw new Error(clusterMissing ?? '');
  const user = findUser();
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-postgres-'));
  chmodSync(folder, 0o700);
  if ('uid' in user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, stdio: 'ignore' as const };
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    options,
  );
  const port = await findFreePort();
  const start = async () => {
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      'fsync=off',
    ];
    const server = spawn(
      join(programs, 'postgres'),
      ['-D', data, ...settings.flatMap((it) => ['-c', it])],
      options,
    );
    for (;;) {
      try {
        execFileSync(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], options);
        return server;
      } catch (error) {
        if (server.exitCode !== null) throw error;
        await pause();
      }
    }
  };
  let server = await start();
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    server.kill(signal);
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async restart() {
      await end('SIGQUIT');
      server = await start();
    },
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findPrograms(): string | null {
  if (!existsSync(BASE)) return null;
  const [newest] = readdirSync(BASE).sort((a, b) => Number(b) - Number(a));
  const folder = join(BASE, newest ?? '', 'bin');
  return existsSync(join(folder, 'initdb')) ? folder : null;
}

/** PostgreSQL refuses to run as root. */
function findUser(): { uid: number; gid: number } | object {
  if (userInfo().uid !== 0) return {};
  const read = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: read('-u'), gid: read('-g') };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return address.port;
}

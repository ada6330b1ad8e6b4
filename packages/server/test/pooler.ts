/** Starts PgBouncer in front of a PostgreSQL server, for one test. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { listenOnFreePort } from './listen.ts';
import { pause } from './time.ts';

export const HAS_POOLER = spawnSync('pgbouncer', ['--version']).error === undefined;

export interface PoolerOptions {
  mode: 'session' | 'transaction';
  /** Parameters of new connections that the pooler ignores. It refuses all other unknown parameters. */
  ignored: readonly string[];
  /** The schema of all connections to the pooler. */
  schema: string;
}

export interface Pooler {
  /** Address of a database in the schema. */
  url: string;
  close(): Promise<void>;
}

export async function startPooler(
  serverUrl: string,
  { mode, ignored, schema }: PoolerOptions,
): Promise<Pooler> {
  const { hostname, port, username, password, pathname } = new URL(serverUrl);
  const probe = createServer();
  const own = await listenOnFreePort(probe);
  probe.close();
  await once(probe, 'close');
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-pooler-'));
  chmodSync(folder, 0o755);
  const server = `host=${hostname} port=${port || 5432} dbname=${pathname.slice(1)} user=${username}`;
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  const search = `SET search_path = ${schema}`;
  const lines = [
    '[databases]',
    `erp = ${server}${secret} connect_query='${search}'`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `server_reset_query = DISCARD ALL; ${search}`,
    `ignore_startup_parameters = ${['extra_float_digits', ...ignored].join(',')}`,
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, lines.join('\n'));
  // PgBouncer refuses to run as root.
  const user = userInfo().uid === 0 ? ['--user=nobody'] : [];
  const child = spawn('pgbouncer', [...user, file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  };
  while (!(await isOpen(own))) {
    if (child.exitCode !== null) {
      await close();
      throw new Error(`pgbouncer ended with ${child.exitCode}`);
    }
    await pause();
  }
  return { url: `postgres://any@127.0.0.1:${own}/erp`, close };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

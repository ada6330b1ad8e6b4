/** The subjects that are compared: how to start each one, and its connection modes. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHelper, stopProcess } from './helper-process.ts';
import { createKey, findFreePort, locateBin, OWN_CHECKOUT, startProgram } from './program.ts';
import type { ConnectionMode } from './upstream.ts';

export interface RunningSubject {
  pid: number;
  port: number;
  /** Client key to send, if the subject needs one. */
  key: string | null;
  stop(): Promise<void>;
}

export interface Subject {
  name: string;
  modes: readonly ConnectionMode[];
  start(upstreamPort: number, folder: string): Promise<RunningSubject>;
}

export const PROXY = 'erp-proxy, everything on';
/** The minimal program for each mode, with which the other subjects are compared. */
export const FLOORS: Record<ConnectionMode, string> = {
  keep: 'by hand: node:http, undici',
  close: 'by hand: node:http, bare sockets',
};

/** Finds out which subjects are installed on this machine. */
export function listSubjects(): Subject[] {
  const both = ['keep', 'close'] as const;
  return [
    { name: PROXY, modes: both, start: startErpProxy },
    { name: FLOORS.close, modes: ['close'], start: startScript('by-hand-sockets') },
    { name: FLOORS.keep, modes: both, start: startScript('by-hand-undici') },
    { name: '@fastify/http-proxy', modes: both, start: startScript('fastify-http-proxy') },
    { name: 'http-proxy', modes: both, start: startScript('http-proxy') },
    ...SERVERS.filter(({ command }) => isInstalled(command)).map((server) => ({
      name: server.name,
      modes: both,
      start: startServer(server),
    })),
  ];
}

/** Names of the subjects that are servers of their own. */
export function listServers(): string[] {
  return SERVERS.map(({ name }) => name);
}

/** Servers that are not installed on this machine. */
export function listMissing(): string[] {
  return SERVERS.filter(({ command }) => !isInstalled(command)).map(({ name }) => name);
}

async function startErpProxy(_upstreamPort: number, parent: string): Promise<RunningSubject> {
  return startCheckout(OWN_CHECKOUT, parent);
}

/** Starts the proxy of a checkout, which must be installed (`npm ci`). */
export async function startCheckout(checkout: string, parent: string): Promise<RunningSubject> {
  const folder = mkdtempSync(join(parent, 'erp-proxy-'));
  const key = await createKey(folder, undefined, checkout);
  return { ...(await startProgram(folder, {}, { bin: locateBin(checkout) })), key };
}

/** The subjects that are compared where the upstream has https, for `localhost`, with a certificate in this file. */
export function listHttpsSubjects(certificateFile: string): Omit<Subject, 'modes'>[] {
  const startProxy = async (_port: number, parent: string) => {
    const folder = mkdtempSync(join(parent, 'erp-proxy-'));
    const key = await createKey(folder);
    const program = await startProgram(
      folder,
      { 'egress.allow': '127.0.0.1,localhost' },
      { env: { NODE_EXTRA_CA_CERTS: certificateFile } },
    );
    return { ...program, key };
  };
  const nginx = SERVERS.filter(({ command }) => command === 'nginx' && isInstalled(command));
  return [
    { name: PROXY, start: startProxy },
    { name: FLOORS.keep, start: startScript('by-hand-undici-https') },
    ...nginx.map((server) => ({ name: server.name, start: startServer(server, 'https') })),
  ];
}

/** Starts the minimal program of an upstream that keeps connections, with one worker or with two. */
export function startFloor(workers: 1 | 2, upstreamPort: number, folder: string): Promise<RunningSubject> {
  return startScript(workers === 1 ? 'by-hand-undici' : 'by-hand-two-workers')(upstreamPort, folder);
}

function startScript(name: string): Subject['start'] {
  return async (upstreamPort) => {
    const helper = await startHelper(new URL('./subject-process.ts', import.meta.url), [
      name,
      String(upstreamPort),
    ]);
    return { pid: helper.pid, port: helper.hello as number, key: null, stop: helper.stop };
  };
}

interface Server {
  name: string;
  command: string;
  buildArguments: (configFile: string, folder: string) => string[];
  buildConfig: (
    port: number,
    upstreamPort: number,
    options: { folder: string; scheme: 'http' | 'https' },
  ) => string;
}

const SERVERS: Server[] = [
  {
    name: 'nginx (one worker)',
    command: 'nginx',
    buildArguments: (file, folder) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
    buildConfig: (port, upstreamPort, { folder, scheme }) => `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  proxy_max_temp_file_size 0;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 1000000;
  upstream odoo { server 127.0.0.1:${upstreamPort}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${scheme}://odoo; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  },
  {
    name: 'Caddy',
    command: 'caddy',
    buildArguments: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    buildConfig: (port, upstreamPort) => `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy 127.0.0.1:${upstreamPort}
}
`,
  },
  {
    name: 'HAProxy (one thread)',
    command: 'haproxy',
    buildArguments: (file) => ['-db', '-f', file],
    buildConfig: (port, upstreamPort) => `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen proxy
  bind 127.0.0.1:${port}
  server odoo 127.0.0.1:${upstreamPort}
`,
  },
];

function startServer(
  { name, command, buildArguments, buildConfig }: Server,
  scheme: 'http' | 'https' = 'http',
): Subject['start'] {
  return async (upstreamPort, parent) => {
    const folder = mkdtempSync(join(parent, `${command}-`));
    const port = await findFreePort();
    const file = join(folder, 'config');
    writeFileSync(file, buildConfig(port, upstreamPort, { folder, scheme }));
    const child = spawn(command, buildArguments(file, folder), {
      stdio: 'ignore',
      env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    });
    for (let tries = 0; !(await canConnect(port)); tries++) {
      if (child.exitCode !== null || tries === 200) throw new Error(`${name} does not start`);
      await sleep(20);
    }
    return {
      pid: child.pid as number,
      port,
      key: null,
      async stop() {
        child.kill('SIGTERM');
        await sleep(100);
        await stopProcess(child);
      },
    };
  };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function isInstalled(command: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

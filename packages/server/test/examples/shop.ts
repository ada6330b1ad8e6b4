/**
 * For tests: starts a sandbox Odoo and the real proxy with the sandbox as instance `prod`, and programs that call the
 * proxy.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';

export interface Shop {
  odoo: Sandbox;
  proxy: RunningProxy;
  close(): Promise<void>;
}

export async function startShop(): Promise<Shop> {
  const odoo = await startSandbox({ version: 18 });
  const proxy = await startProxy({
    allow: [odoo.url],
    settings: { 'upstream.protocol': 'auto', 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') },
  });
  const { userId, apiKey } = odoo.users.admin;
  await proxy.app.instances.add({
    name: 'prod',
    url: odoo.url,
    db: odoo.db,
    user_id: userId,
    api_key: apiKey,
    allow_private: true,
  });
  return {
    odoo,
    proxy,
    async close() {
      await proxy.close();
      await odoo.close();
    },
  };
}

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. Its environment has the address of the proxy, and `key` or the key of the proxy. */
export function runProgram(
  [command, ...args]: [string, ...string[]],
  { proxy }: Shop,
  {
    key = proxy.key,
    url = proxy.url,
    input = '',
    env = {},
  }: { key?: string; url?: string; input?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  const { promise, resolve, reject } = Promise.withResolvers<Ran>();
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      ERP_PROXY_URL: url,
      ERP_PROXY_KEY: key,
      ERP_PROXY_INSTANCE: 'prod',
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
  });
  const ran = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ran.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ran.stderr += text;
  });
  child.on('error', reject);
  child.on('close', (status) => resolve({ status, ...ran }));
  // A program may end without reading its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return promise;
}

/** Whether a command is on the PATH. */
export function hasCommand(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

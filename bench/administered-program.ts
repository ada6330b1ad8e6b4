/** Starts the program with admin token and vault, so that scenarios can store keys with policies, and instances. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Program, startProgram } from './program.ts';
import type { Bench } from './scenario.ts';

const ADMIN_TOKEN = 'the admin token of a bench, forgotten after it';

export function startAdministered(
  bench: Pick<Bench, 'folder'>,
  settings: Record<string, string> = {},
): Promise<Program> {
  return startProgram(mkdtempSync(join(bench.folder, 'administered-')), {
    'admin.token': ADMIN_TOKEN,
    'vault.masterKey': randomBytes(32).toString('base64'),
    ...settings,
  });
}

/** Returns the text of the key. */
export async function createKey(program: Program, policy: object | null): Promise<string> {
  const { key } = await ask(program, '/keys', { name: 'bench', ...(policy && { policy }) });
  return key as string;
}

/** Stores the upstream on this port as an instance, `prod` if the members do not say otherwise. */
export async function storeInstance(program: Program, port: number, members: object = {}): Promise<void> {
  await ask(program, '/instances', {
    name: 'prod',
    url: `http://127.0.0.1:${port}`,
    db: 'production',
    user_id: 2,
    api_key: '0123456789abcdef0123456789abcdef01234567',
    ...members,
  });
}

async function ask(program: Program, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${program.port}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}

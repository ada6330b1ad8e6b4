/** Calls a sandbox over both protocols, like clients. */
import type { Sandbox } from '../src/index.ts';

export interface Spoken {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
}

export async function speak(
  { url, db, users }: Sandbox,
  path: string,
  { body, ...rest }: { body?: unknown; method?: string; headers?: Record<string, string> } = {},
): Promise<Spoken> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...rest,
    headers: {
      'content-type': 'application/json',
      authorization: `bearer ${users.admin.apiKey}`,
      'x-odoo-database': db,
      ...rest.headers,
    },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** The result of execute_kw, or the name of its error. */
export async function executeKw(
  sandbox: Sandbox,
  model: string,
  method: string,
  args: readonly unknown[],
  named: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const { admin } = sandbox.users;
  const params = {
    service: 'object',
    method: 'execute_kw',
    args: [sandbox.db, admin.userId, admin.apiKey, model, method, args, named],
  };
  const { body } = await speak(sandbox, '/jsonrpc', { body: { jsonrpc: '2.0', id: 1, params } });
  const { result = null, error } = body as { result?: unknown; error?: { data: { name: string } } };
  return error ? error.data.name : result;
}

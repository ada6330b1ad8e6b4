/** Starts sandboxes and proxies in front of them. All are closed after the tests of a file. */
import { type Sandbox, type SandboxOptions, startSandbox } from '@erp-proxy/sandbox';
import { closeAfterFile } from '../close-after-test.ts';
import { type HttpAnswer, type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import type { Operation } from './operations.ts';

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  return closeAfterFile(await startSandbox(options));
}

/**
 * Opens a proxy that by default does not remember refused credentials, so that each call of a test reaches the server.
 */
export async function openProxy(
  upstreams: readonly { url: string }[],
  protocol: 'auto' | 'jsonrpc' | 'json2',
  { settings, ...options }: ProxyOptions = {},
): Promise<RunningProxy> {
  const proxy = await startProxy({
    allow: upstreams.map(({ url }) => url),
    settings: {
      'upstream.protocol': protocol,
      'upstream.refusedCredentialsTtlMs': '0',
      ...settings,
    },
    ...options,
  });
  return closeAfterFile(proxy);
}

/** The body of a call, with the bytes of the operation. */
export function printOperation(sandbox: Sandbox, operation: Operation): string {
  const { userId, apiKey } = sandbox.users[operation.user ?? 'admin'];
  const instance = {
    url: JSON.stringify(sandbox.url),
    db: JSON.stringify(sandbox.db),
    user_id: String(userId),
    api_key: JSON.stringify(apiKey),
    ...operation.instance,
  };
  const members = {
    id: '1',
    action: JSON.stringify(operation.action),
    model_id: JSON.stringify(operation.model),
    params: operation.params,
    keyword: operation.keyword ?? '{}',
    erp_instance: printObject(instance),
  };
  return printObject(members);
}

function printObject(members: Record<string, string>): string {
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`;
}

/** The part of an answer that must be equal: every byte of a success, and the kind of an error. */
export function describeOutcome({ status, body }: HttpAnswer): unknown {
  const text = body.toString();
  const { error } = JSON.parse(text) as { error?: { code: number; data: { type: string; name?: string } } };
  if (error === undefined) return { status, body: text };
  return { status, code: error.code, type: error.data.type, name: error.data.name };
}

/** `ok`, or the type of the error. */
export function describeKind({ body }: HttpAnswer): string {
  const { error } = JSON.parse(body.toString()) as { error?: { data: { type: string } } };
  return error === undefined ? 'ok' : error.data.type;
}

/** The rows of a model's table, as an administrator of Odoo 19 or later reads them without the proxy. */
export async function readTable({ url, db, users }: Sandbox, model: string): Promise<unknown> {
  const answer = await fetch(`${url}/json/2/${model}/search_read`, {
    method: 'POST',
    headers: {
      authorization: `bearer ${users.admin.apiKey}`,
      'content-type': 'application/json',
      'x-odoo-database': db,
    },
    body: JSON.stringify({ order: 'id', context: { active_test: false } }),
  });
  return answer.status === 200 ? answer.json() : null;
}

/** The protocol of the last call. The log line is written shortly after the answer. */
export async function readProtocol(proxy: RunningProxy): Promise<unknown> {
  await new Promise(setImmediate);
  return proxy.log.findLast(({ msg }) => msg === 'call')?.['protocol'];
}

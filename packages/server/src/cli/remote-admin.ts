/**
 * The service of administration over `/admin/v1` of a running proxy, with the token of the settings. Refusals come as
 * the same errors as from the service itself, so that commands need not know where they work.
 */
import type { AuditView, Problem } from '@erp-proxy/contract';
import { type Admin, AdminError } from '../admin/admin.ts';
import { EgressBreak, type EgressDispatcher, type EgressFailure } from '../egress/dispatcher.ts';
import { fetchWhole, type WholeAnswer } from '../egress/fetch-whole.ts';
import { CommandError, type CommandInput } from './command.ts';
import { createDispatcherTo } from './post.ts';

const BASE_PATH = '/admin/v1';
/** To verify a long audit takes its time. */
const TIMEOUT_MS = 600_000;
const ANSWER_BYTES_MAX = 64 * 1024 ** 2;

interface AdminRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below {@link BASE_PATH}; text that is not ours is encoded already. */
  path: string;
  query?: object;
  body?: unknown;
  /** The only version that may be changed. */
  version?: number | undefined;
}

export async function openRemoteAdmin(
  input: Pick<CommandInput, 'option' | 'settings'>,
): Promise<{ admin: Admin; close(): Promise<void> }> {
  const base = readAddress(input.option('url') ?? '');
  const token = readToken(input);
  const egress = createDispatcherTo(base.origin);
  return { admin: createRemoteAdmin(egress, base, token), close: () => egress.close() };
}

function createRemoteAdmin(egress: EgressDispatcher, base: URL, token: string): Admin {
  const prepare = ({ method = 'GET', path, query = {}, body, version }: AdminRequest) => ({
    method,
    origin: base.origin,
    path: `${base.pathname.replace(/\/+$/, '')}${BASE_PATH}${path}${printQuery(query)}`,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(version === undefined ? {} : { 'if-match': `"${version}"` }),
    },
    body: method === 'GET' ? null : Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  });

  // The shape of an answer is what this same program's admin API promises; it is not checked once more here.
  const ask = async (request: AdminRequest) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetchWhole(egress, prepare(request), { signal, bytesMax: ANSWER_BYTES_MAX });
    if (!answer.ok) throw explainFailure(answer, base);
    if (answer.status === 204) return undefined;
    const value = readJson(answer, base);
    if (answer.status < 300) return value;
    throw new AdminError(value as Problem);
  };

  async function* exportAudit(query: object): AsyncGenerator<AuditView> {
    const request = prepare({ path: '/audit/export', query: { ...query, format: 'ndjson' } });
    // No time is set: an export takes as long as it takes.
    const answer = await egress.send(request, { signal: new AbortController().signal });
    if (!answer.ok) throw explainFailure(answer, base);
    const { body, ...head } = answer;
    if (answer.status !== 200) {
      const pieces = await Array.fromAsync(readPieces(body, base));
      throw new AdminError(readJson({ ...head, body: Buffer.concat(pieces) }, base) as Problem);
    }
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of readPieces(body, base)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line);
    }
  }

  const key = (id: string) => `/keys/${encodeURIComponent(id)}`;
  const instance = (name: string) => `/instances/${encodeURIComponent(name)}`;
  return {
    listKeys: (query) => ask({ path: '/keys', query }),
    createKey: (body) => ask({ method: 'POST', path: '/keys', body }),
    getKey: (id) => ask({ path: key(id) }),
    updateKey: (id, body, version) => ask({ method: 'PATCH', path: key(id), body, version }),
    revokeKey: (id) => ask({ method: 'POST', path: `${key(id)}/revoke` }),
    rotateKey: (id, body) => ask({ method: 'POST', path: `${key(id)}/rotate`, body }),
    explain: (id, body) => ask({ method: 'POST', path: `${key(id)}/explain`, body }),
    listInstances: (query) => ask({ path: '/instances', query }),
    createInstance: (body) => ask({ method: 'POST', path: '/instances', body }),
    getInstance: (name) => ask({ path: instance(name) }),
    updateInstance: (name, body, version) => ask({ method: 'PATCH', path: instance(name), body, version }),
    removeInstance: (name, version) => ask({ method: 'DELETE', path: instance(name), version }),
    rotateInstanceKey: (name) => ask({ method: 'POST', path: `${instance(name)}/rotate-key` }),
    listAudit: (query) => ask({ path: '/audit', query }),
    exportAudit,
    verifyAudit: (head) => ask({ path: '/audit/verify', query: { head } }),
    resealVault: () => ask({ method: 'POST', path: '/vault/reseal' }),
    status: () => ask({ path: '/status' }),
  };
}

/** Plain http only to this machine: the token would travel unencrypted. */
function readAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(
      `--url "${text}" is not the address of a proxy, such as https://proxy.example.com.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new CommandError('--url must not have a user name or password; the token is admin.token.');
  }
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback) {
    throw new CommandError(`--url ${url.origin} would send the admin token unencrypted; use https.`);
  }
  return url;
}

function readToken({ settings }: Pick<CommandInput, 'settings'>): string {
  const { token } = settings.admin;
  if (token !== null) return token;
  throw new CommandError(
    'admin.token is not set here; give the token of that proxy in ERP_PROXY_ADMIN_TOKEN, or name a file with it in ERP_PROXY_ADMIN_TOKEN_FILE.',
  );
}

function printQuery(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

async function* readPieces(
  body: { next(): Uint8Array | null | Promise<Uint8Array | null>; cancel(): void },
  { origin }: URL,
): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = await body.next(); piece !== null; piece = await body.next()) yield piece;
  } catch (error) {
    if (!(error instanceof EgressBreak)) throw error;
    throw new CommandError(`${origin} broke off in the middle of its answer; what came is not all.`, 1);
  } finally {
    body.cancel();
  }
}

/** Anything but JSON of our own kind is another server, or an older proxy, and is not shown. */
function readJson({ status, headers, body }: Pick<WholeAnswer, 'status' | 'headers' | 'body'>, base: URL) {
  const type = String(headers['content-type']).split(';')[0];
  if (type !== (status < 300 ? 'application/json' : 'application/problem+json')) {
    throw new CommandError(
      `${base.origin} answers HTTP ${status}, but not as the admin API of an erp-proxy; check --url.`,
      1,
    );
  }
  return JSON.parse(body.toString());
}

function explainFailure({ detail }: EgressFailure, { origin }: URL): CommandError {
  return new CommandError(`No answer from ${origin} (${detail}); is the proxy running there?`, 1);
}

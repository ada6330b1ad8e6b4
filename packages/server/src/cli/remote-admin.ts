/**
 * The admin service of a running proxy, over `/admin/v1` with the configured token or the session of `login`. Errors
 * are the same as those of the local service, so that commands need not distinguish the two.
 */

import type { Admin, OnCheck } from '@erp-proxy/admin';
import { AdminError } from '@erp-proxy/admin/errors';
import { ByteStreamError } from '@erp-proxy/async/streams';
import {
  type AuditView,
  type Examination,
  type Problem,
  printVersionTag,
  type VersionTag,
} from '@erp-proxy/contract';
import {
  type AdminOperation,
  type AdminOperations,
  OPERATIONS,
  SESSION_HEADER,
} from '@erp-proxy/contract/admin';
import { type EgressDispatcher, type EgressFailure, fetchWhole, type WholeAnswer } from '@erp-proxy/egress';
import { nameFileVariable, nameVariable } from '../config/names.ts';
import { CommandError, type CommandInput } from './command.ts';
import { createDispatcherTo } from './post.ts';
import { OTHER_VERSION } from './proxy-access.ts';
import { cleanTexts, findShape, PROBLEM, RECORD, type Shape } from './remote-shapes.ts';
import { createStoredSessions } from './stored-sessions.ts';

const BASE_PATH = '/admin/v1';
export const SESSION_PATH = `${BASE_PATH}/session`;
/** Time limit of a request: verifying a long audit takes long. */
const TIMEOUT_MS = 600_000;
const ANSWER_BYTES_MAX = 64 * 1024 ** 2;

interface AdminRequest {
  method: AdminOperation['method'];
  /** Path below {@link BASE_PATH}, with encoded variable parts. */
  path: string;
  query?: object;
  body?: unknown;
  /** The only version that may be changed. */
  tag?: VersionTag | undefined;
}

export async function openRemoteAdmin(
  input: Pick<CommandInput, 'option' | 'settings' | 'env'>,
): Promise<{ admin: Admin; close(): Promise<void> }> {
  const base = readAddress(input.option('url') ?? '');
  const credential = await findCredential(input, base);
  const egress = createDispatcherTo(base.origin);
  return { admin: createRemoteAdmin(egress, base, credential), close: () => egress.close() };
}

/** What requests are authenticated with. */
interface Credential {
  /** The bearer token. */
  token: string;
  /** Takes the new value that an answer has for a session. */
  renew(session: string): Promise<void>;
}

function createRemoteAdmin(egress: EgressDispatcher, base: URL, credential: Credential): Admin {
  const prepare = ({ method, path, query = {}, body, tag }: AdminRequest) => ({
    method,
    origin: base.origin,
    path: `${base.pathname.replace(/\/+$/, '')}${BASE_PATH}${path}${printQuery(query)}`,
    headers: {
      authorization: `Bearer ${credential.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(tag === undefined ? {} : { 'if-match': printVersionTag(tag) }),
    },
    body: method === 'GET' ? null : Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  });

  const ask = async (operation: AdminOperation, request: AdminRequest) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetchWhole(egress, prepare(request), { signal, bytesMax: ANSWER_BYTES_MAX });
    const isChange = operation.method !== 'GET' && !operation.isReadOnly;
    if (!answer.ok) throw explainFailure(answer, base, isChange);
    const renewed = answer.headers[SESSION_HEADER];
    if (typeof renewed === 'string') await credential.renew(renewed);
    if (answer.status === 204) return undefined;
    if (answer.status < 300) return readAnswer(answer, base, findShape(operation.answer.schema), isChange);
    const error = readProblem(answer, base, isChange);
    const { tag } = request;
    // A proxy of an older version refuses a tag that has a time of creation, and has changed nothing: send it without.
    if (tag && tag.createdAt !== null && isTagRefusal(error))
      return ask(operation, { ...request, tag: { ...tag, createdAt: null } });
    throw error;
  };

  const run = (operation: AdminOperation, given: readonly unknown[]) => {
    const { method, query, body, takesVersion } = operation;
    const left = [...given];
    const path = operation.path.replaceAll(/:\w+/g, () => encodeURIComponent(String(left.shift())));
    return ask(operation, {
      method,
      path,
      ...(query ? { query: left.shift() as object } : {}),
      ...(body ? { body: left.shift() } : {}),
      ...(takesVersion ? { tag: left.shift() as VersionTag | undefined } : {}),
    });
  };

  async function* exportAudit(query: object): AsyncGenerator<AuditView> {
    const { method, path } = OPERATIONS.exportAudit;
    const request = prepare({ method, path, query: { ...query, format: 'ndjson' } });
    // No time limit: an export can take arbitrarily long.
    const answer = await egress.send(request, { signal: new AbortController().signal });
    if (!answer.ok) throw explainFailure(answer, base, false);
    const { body, ...head } = answer;
    const renewed = head.headers[SESSION_HEADER];
    if (typeof renewed === 'string') await credential.renew(renewed);
    if (answer.status !== 200) {
      const pieces = await Array.fromAsync(readPieces(body, base));
      throw readProblem({ ...head, body: Buffer.concat(pieces) }, base, false);
    }
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of readPieces(body, base)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield readLine(line, base);
    }
    if (rest !== '') throw explainBreak(base);
  }

  const operations = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    (...given: unknown[]) => run(operation, given),
  ]);
  const admin = Object.fromEntries(operations) as AdminOperations;
  /** Reports all checks at the end: the proxy's answer comes as a whole. */
  const showChecks = async (examining: Promise<Examination>, onCheck?: OnCheck) => {
    const examination = await examining;
    for (const check of examination.checks) onCheck?.(check);
    return examination;
  };
  return {
    ...admin,
    comparePolicy: (input) => admin.comparePolicy(input),
    checkInstance: (name, onCheck) => showChecks(admin.checkInstance(name), onCheck),
    checkServer: (input, onCheck) => showChecks(admin.checkServer(input), onCheck),
    exportAudit,
  };
}

/** Allows plain http only to this machine, because it would send the token unencrypted. */
export function readAddress(text: string): URL {
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

/**
 * A token of the environment, the session that `login` has started at this proxy, or the token of the settings, in this
 * order: the settings are often those of another proxy.
 */
async function findCredential(
  { settings, env }: Pick<CommandInput, 'settings' | 'env'>,
  base: URL,
): Promise<Credential> {
  const { token } = settings.admin;
  const isInEnvironment = Boolean(env[nameVariable('admin.token')] || env[nameFileVariable('admin.token')]);
  const sessions = createStoredSessions(env);
  const session = isInEnvironment ? null : await sessions.find(base);
  const found = session ?? token;
  if (found === null) throw new CommandError(NO_CREDENTIAL);
  const credential: Credential = {
    token: found,
    async renew(value) {
      credential.token = value;
      await sessions.save(base, value);
    },
  };
  return credential;
}

const NO_CREDENTIAL =
  'There is no token for that proxy: sign in with erp-proxy login, give its admin.token or a personal token in ERP_PROXY_ADMIN_TOKEN, or name a file with it in ERP_PROXY_ADMIN_TOKEN_FILE.';

function printQuery(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

async function* readPieces(
  body: { next(): Uint8Array | null | Promise<Uint8Array | null>; cancel(): void },
  base: URL,
): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = await body.next(); piece !== null; piece = await body.next()) yield piece;
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    throw explainBreak(base);
  } finally {
    body.cancel();
  }
}

type ReadAnswer = Pick<WholeAnswer, 'status' | 'headers' | 'body'>;

/** Throws for any answer but the expected JSON: it is from another server or an older proxy, and is not shown. */
export function readAnswer(
  { status, headers, body }: ReadAnswer,
  base: URL,
  shape: Shape,
  isChange: boolean,
) {
  const type = String(headers['content-type']).split(';')[0];
  const isOurs = type === (status < 300 ? 'application/json' : 'application/problem+json');
  const value = isOurs ? readJson(body.toString(), shape) : undefined;
  if (value === undefined) throw explainStrange(status, base, isChange);
  return value;
}

export function readProblem(answer: ReadAnswer, base: URL, isChange: boolean): AdminError | CommandError {
  const problem = readAnswer(answer, base, PROBLEM, isChange);
  return isRouteMissing(problem) ? new CommandError(OTHER_VERSION, 1) : new AdminError(problem);
}

/** Recognizes how each version of the proxy answers an unknown route. A missing object has another text. */
function isRouteMissing({ status, detail }: Problem): boolean {
  return (status === 404 && /^There is no such route\b/.test(detail)) || status === 405;
}

function isTagRefusal(error: AdminError | CommandError): boolean {
  if (!(error instanceof AdminError)) return false;
  const { status, detail } = error.problem;
  return status === 400 && detail.startsWith('`if-match` ');
}

/** Undefined if the text is not JSON, or has another shape. */
function readJson(text: string, shape: Shape) {
  try {
    const value = JSON.parse(text, cleanTexts);
    return shape(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readLine(line: string, base: URL): AuditView {
  const record = readJson(line, RECORD);
  if (record === undefined) throw explainStrange(200, base, false);
  return record;
}

/**
 * Advice after a change that seems to have failed: it may have been made, and a gateway may have lost or replaced its
 * answer.
 */
const MAY_BE_MADE =
  ' The change may have been made: look at the list of keys or instances, or at the audit, before you try again.';

function explainStrange(status: number, { origin }: URL, isChange: boolean): CommandError {
  const message = `${origin} answers HTTP ${status}, but not as the admin API of an erp-proxy; check --url.`;
  const mayBeMade = isChange && (status < 300 || status >= 500);
  return new CommandError(mayBeMade ? message + MAY_BE_MADE : message, 1);
}

function explainBreak({ origin }: URL): CommandError {
  return new CommandError(`${origin} broke off in the middle of its answer; what came is not all.`, 1);
}

export function explainFailure(
  { detail, sent }: EgressFailure,
  { origin }: URL,
  isChange: boolean,
): CommandError {
  const message = `No answer from ${origin} (${detail}); is the proxy running there?`;
  return new CommandError(isChange && sent ? message + MAY_BE_MADE : message, 1);
}

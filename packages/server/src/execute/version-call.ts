/**
 * The question for a server's version, from its bytes to the reply. Asks over `/jsonrpc`, which leaves nothing on the
 * server, and only a server that has none at its version page (docs/odoo-facts.md#version-pages). Nothing is
 * remembered: who asks wants to know it now.
 */
import { URL_LENGTH_MAX } from '../egress/base-url.ts';
import type { EgressDispatcher } from '../egress/dispatcher.ts';
import { fetchWhole } from '../egress/fetch-whole.ts';
import { readMembers } from '../json/members.ts';
import type { JsonMember } from '../json/span.ts';
import { readJsonVersion } from '../odoo/version.ts';
import { authorizeServer } from './call/authorize.ts';
import { readBaseUrl } from './call/base-url.ts';
import type { CallSpan, Read } from './call/parse.ts';
import { checkNames, describe, invalid, OWN_MEMBERS_MAX, readId, readText } from './call/read-members.ts';
import { resolveServer, type ServerAddress } from './call/resolve.ts';
import { NULL_ID } from './request/envelope.ts';
import { type CallScope, type Operation, type RequestDeps, type Run, runRequest } from './run-request.ts';
import { Denial } from './terms/denial.ts';
import type { Dialect } from './terms/dialect.ts';
import type { Exchange } from './terms/exchange.ts';
import { type FetchAnswer, fetchPage, findVersion, QUESTION } from './upstream/find-version.ts';
import { isClientUnchanged } from './upstream/judge-again.ts';
import type { Reply } from './upstream/receive.ts';
import { CHANGED, denyFailure } from './upstream/upstream-denials.ts';
import { denyStatus, isRouteMissing } from './upstream/upstream-status.ts';

export interface VersionDeps extends RequestDeps {
  egress: EgressDispatcher;
}

/** Answers `{id, url}` with the members of Odoo's own version object, whatever its version. Never rejects. */
export function askVersion(exchange: Exchange, deps: VersionDeps, dialect: Dialect): Promise<void> {
  return runRequest(VERSION, exchange, deps, { ...dialect, instanceAt: '' });
}

/** Answers `{id, url}` with what `/json/version` says; a server without it is refused. Never rejects. */
export function askJsonVersion(exchange: Exchange, deps: VersionDeps, dialect: Dialect): Promise<void> {
  return runRequest(JSON_VERSION, exchange, deps, { ...dialect, instanceAt: '' });
}

interface Question {
  url: string;
  /** It is about a server, and no model of it. */
  model?: never;
  method?: never;
  instance?: never;
}

const VERSION: Operation<Question, VersionDeps> = {
  name: 'version',
  takesBatch: false,
  read: readQuestion,
  run: (question, trace, run) => ask(question, trace, run, findVersion),
};

const JSON_VERSION: Operation<Question, VersionDeps> = {
  name: 'json version',
  takesBatch: false,
  read: readQuestion,
  run: (question, trace, run) => ask(question, trace, run, findJsonVersion),
};

/** A version is some hundred bytes; the pages of other programs are not worth reading. */
const ANSWER_BYTES_MAX = 64 * 1024;

function readQuestion(bytes: Uint8Array, { span, members: known }: CallSpan): Read<Question> {
  if (span.kind !== 'object')
    return { id: NULL_ID, call: invalid('', `A question must be an object, not ${describe(span)}.`) };
  const members = known ?? readMembers(bytes, span, OWN_MEMBERS_MAX);
  const id = readId(bytes, members);
  if (id instanceof Denial) return { id: NULL_ID, call: id };
  return { id, call: readUrl(bytes, members) };
}

function readUrl(bytes: Uint8Array, members: JsonMember[]): Question | Denial {
  const strange = checkNames(members, '', ['id', 'url'], ['jsonrpc']);
  if (strange) return strange;
  const value = members.find(({ name }) => name === 'url')?.value;
  const url = readText(bytes, value, 'url', URL_LENGTH_MAX, 'the address of the Odoo server');
  return url instanceof Denial ? url : { url };
}

async function ask(
  { url }: Question,
  scope: CallScope,
  run: Run<VersionDeps>,
  find: (server: ServerAddress, fetch: FetchAnswer) => Promise<object | Denial>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const { trace } = scope;
  const { deadline, deps } = run;
  const address = readBaseUrl(url);
  if (address instanceof Denial) return { reply: address, ...QUESTION };
  trace.target = address;
  // Who may not call a server is not told how egress judges it.
  const denied = authorizeServer(address.origin, scope.client);
  if (denied !== null) return { reply: denied, ...QUESTION };
  const server = resolveServer(url, deps.egress);
  if (server instanceof Denial) return { reply: server, ...QUESTION };
  trace.target = server;
  const isUnchanged = () =>
    isClientUnchanged(scope.client, (client) => authorizeServer(address.origin, client) === null, run);
  const version = await find(server, async (protocol, request) => {
    if (!(await isUnchanged())) return CHANGED;
    trace.protocol = protocol;
    trace.sentMs ??= deps.nowMs();
    trace.attempts = 1;
    const answer = await fetchWhole(
      deps.egress,
      { ...request, origin: server.origin },
      { signal: deadline.signal, isStillWanted: isUnchanged, bytesMax: ANSWER_BYTES_MAX },
    );
    trace.answeredMs = deps.nowMs();
    if (!answer.ok) return denyFailure(answer, QUESTION, deadline);
    trace.upstreamStatus = answer.status;
    return answer;
  });
  return { reply: version instanceof Denial ? version : replyWith(version), ...QUESTION };
}

async function findJsonVersion(server: ServerAddress, fetch: FetchAnswer): Promise<object | Denial> {
  const page = await fetchPage(server, fetch);
  if (page instanceof Denial) return page;
  if (isRouteMissing(page.status)) {
    return new Denial(
      'json2_missing',
      'The server has no /json/version: it is Odoo 18 or older, or no Odoo. Nothing was run.',
    );
  }
  const version = page.status === 200 ? readJsonVersion(page.body) : null;
  if (version === null) return denyStatus(page, QUESTION);
  return { version_info: version.server_version_info, version: version.server_version };
}

function replyWith(value: object): Reply {
  return {
    kind: 'result',
    pieces: [Buffer.from(JSON.stringify(value))],
    rest: null,
    lengthBytes: null,
    lastByte: null,
    tail: Buffer.from('}'),
  };
}

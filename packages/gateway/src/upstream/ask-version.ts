/** Step: asks a server for its version. The answer is not kept, because the caller wants the current version. */
import { type EgressDispatcher, type EgressRequest, fetchWhole, type WholeAnswer } from '@erp-proxy/egress';
import {
  isRouteMissing,
  type OdooVersion,
  readJsonrpcVersion,
  readJsonVersion,
  VERSION_BODY,
} from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import type { Protocol } from '../terms/method-call.ts';
import type { Step } from '../terms/operation.ts';
import { replyWhole } from '../terms/reply.ts';
import type { ServerAddress } from '../terms/target.ts';
import { CHANGED, denyFailure } from '../terms/upstream-denials.ts';
import { denyStatus } from './upstream-status.ts';

export interface AskVersionDeps {
  egress: EgressDispatcher;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

type VersionStep = Step<{ server: ServerAddress; isReadOnly: true }>;

/** A version has some hundred bytes. Longer pages of other programs are not read. */
const ANSWER_BYTES_MAX = 64 * 1024;
const CLOSING_BRACE = Buffer.from('}');

/** Replies with the members of Odoo's own version object. Any version of Odoo has one. */
export function askVersion(deps: AskVersionDeps): VersionStep {
  return askWith(findVersion, deps);
}

/** Replies with the content of `/json/version`. A server without it is refused. */
export function askJsonVersion(deps: AskVersionDeps): VersionStep {
  return askWith(findJsonVersion, deps);
}

function askWith(
  find: (server: ServerAddress, fetch: FetchAnswer) => Promise<object | Denial>,
  { egress, nowMs }: AskVersionDeps,
): VersionStep {
  return async function askVersion({ server }, { trace, time, isUnchanged }) {
    const version = await find(server, async (protocol, request) => {
      if (!(await isUnchanged())) return CHANGED;
      trace.protocol = protocol;
      trace.sentMs ??= nowMs();
      trace.attempts = 1;
      const sent = { ...request, origin: server.origin };
      const attempt = trace.traced?.startAttempt(sent, protocol);
      const traceparent = attempt?.traceparent ?? trace.traceparent;
      const answer = await fetchWhole(
        egress,
        traceparent === null ? sent : { ...sent, headers: { ...sent.headers, traceparent } },
        { signal: time.signal, isStillWanted: isUnchanged, bytesMax: ANSWER_BYTES_MAX },
      );
      trace.answeredMs = nowMs();
      attempt?.end(answer);
      if (!answer.ok) return denyFailure(answer, READ_ONLY, time.deadline);
      trace.upstreamStatus = answer.status;
      return answer;
    });
    return version instanceof Denial
      ? version
      : replyWhole(Buffer.from(JSON.stringify(version)), CLOSING_BRACE);
  };
}

async function findJsonVersion(server: ServerAddress, fetch: FetchAnswer): Promise<object | Denial> {
  const page = await fetchPage(server, fetch);
  if (page instanceof Denial) return page;
  if (isRouteMissing(page)) {
    return new Denial(
      'json2_missing',
      'The server has no /json/version: it is Odoo 18 or older, or no Odoo. Nothing was run.',
    );
  }
  const version = page.status === 200 ? readJsonVersion(page.body) : null;
  if (version === null) return denyStatus(page, READ_ONLY);
  return { version_info: version.server_version_info, version: version.server_version };
}

/** A request for the version changes nothing. */
export const READ_ONLY = { isReadOnly: true };

type FetchAnswer = (
  protocol: Protocol,
  request: Omit<EgressRequest, 'origin'>,
) => Promise<WholeAnswer | Denial>;

/**
 * Asks a server for its version over `/jsonrpc`, which leaves nothing on the server. Only if the server has no
 * `/jsonrpc`, reads its version page (docs/odoo-facts.md#version-pages).
 */
export async function findVersion(server: ServerAddress, fetch: FetchAnswer): Promise<OdooVersion | Denial> {
  const answer = await fetch('jsonrpc', {
    method: 'POST',
    path: `${server.pathPrefix}/jsonrpc`,
    headers: { 'content-type': 'application/json' },
    body: VERSION_BODY,
  });
  if (answer instanceof Denial) return answer;
  if (answer.status === 200) return readJsonrpcVersion(answer.body) ?? denyStatus(answer, READ_ONLY);
  if (!isRouteMissing(answer)) return denyStatus(answer, READ_ONLY);
  const page = await fetchPage(server, fetch);
  if (page instanceof Denial) return page;
  return (page.status === 200 ? readJsonVersion(page.body) : null) ?? denyStatus(page, READ_ONLY);
}

function fetchPage({ pathPrefix }: ServerAddress, fetch: FetchAnswer): Promise<WholeAnswer | Denial> {
  return fetch('json2', { method: 'GET', path: `${pathPrefix}/json/version`, headers: {}, body: null });
}

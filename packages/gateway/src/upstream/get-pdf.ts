/**
 * Gets a PDF from a page of the server of a call: the page of a record for its customer, whose address has the token
 * that opens it. Neither the address nor a cookie is logged, and no redirect leads to another page or server.
 */
import { ByteStreamError } from '@erp-proxy/async/streams';
import type { EgressAnswer, EgressDispatcher, EgressFailure, EgressRequest } from '@erp-proxy/egress';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FoundPdf, PageFailure } from '../terms/follow-up.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED, denyBrokenOff, denyFailure } from '../terms/upstream-denials.ts';
import { PeekedBody } from './peeked-body.ts';
import { denyStatus } from './upstream-status.ts';

export interface GetPdfDeps {
  egress: EgressDispatcher;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export interface Page {
  target: Target;
  /** Path and query, relative to the base address of the server. */
  path: string;
  /** Code of a language of Odoo, such as `fr_FR`; null: that of the page. */
  lang: string | null;
}

const READ_ONLY = { isReadOnly: true };
const SIGNATURE = '%PDF-';
/** A page that a language moves, and one that needs the database first. */
const REQUESTS_MAX = 3;

export async function getPdf(
  page: Page,
  context: CallContext,
  deps: GetPdfDeps,
): Promise<FoundPdf | PageFailure> {
  const { target } = page;
  let path = page.path;
  const cookies = new Map<string, string>(page.lang === null ? [] : [['frontend_lang', page.lang]]);
  for (let requests = 1; ; requests++) {
    const answer = await send(target, path, cookies, context, deps);
    if (answer instanceof Denial) return { failed: answer, isAnswered: false };
    if (answer.status === 200) return await readPdf(answer, context);
    answer.body.cancel();
    const failure = { failed: explainStatus(answer), isAnswered: true };
    if (requests === REQUESTS_MAX) return failure;
    const moved = findMoved(answer, page.path);
    if (moved !== null) path = moved;
    else if (!mayLackDatabase(answer) || cookies.has(SESSION)) return failure;
    else {
      const session = await openSession(target, context, deps);
      if (session instanceof Denial) return { failed: session, isAnswered: false };
      if (session === null) return failure;
      cookies.set(SESSION, session);
    }
  }
}

const SESSION = 'session_id';

/** Sends a GET, unless the call may not be sent any more. */
async function send(
  { origin, pathPrefix, trust, db }: Target,
  path: string,
  cookies: ReadonlyMap<string, string>,
  { time, request, trace, isUnchanged }: CallContext,
  { egress, nowMs }: GetPdfDeps,
): Promise<EgressAnswer | Denial> {
  if (!(await isUnchanged())) return CHANGED;
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const sent: EgressRequest = {
    origin,
    trust,
    method: 'GET',
    path: pathPrefix + path,
    headers: { 'x-odoo-database': db, ...(cookie === '' ? {} : { cookie }) },
    body: null,
  };
  trace.attempts++;
  // The span has no path.
  const attempt = trace.traced?.startAttempt(sent, trace.protocol ?? 'jsonrpc');
  const { signal } = time.deadline;
  const { requestId: owner } = request.exchange;
  const answer: EgressAnswer | EgressFailure = await egress.send(sent, {
    signal,
    owner,
    isStillWanted: isUnchanged,
  });
  attempt?.end(answer);
  trace.answeredMs = nowMs();
  if (!answer.ok) return denyFailure(answer, READ_ONLY, time.deadline);
  trace.upstreamStatus = answer.status;
  return answer;
}

async function readPdf(answer: EgressAnswer, { time }: CallContext): Promise<FoundPdf | PageFailure> {
  const peeked = new PeekedBody(answer.body);
  try {
    while (!peeked.isWhole && peeked.length < SIGNATURE.length) await peeked.readMore();
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    const details = { outcome: 'not_sent', isReadOnly: true, detail: error.message } as const;
    return { failed: denyBrokenOff(time.deadline, details), isAnswered: false };
  }
  const { bytes } = peeked;
  if (Buffer.from(bytes.subarray(0, SIGNATURE.length)).toString('latin1') !== SIGNATURE) {
    peeked.cancel();
    return { failed: NO_PDF, isAnswered: true };
  }
  const isWhole = peeked.isWhole;
  return {
    disposition: readHeader(answer, 'content-disposition'),
    reply: {
      kind: 'result',
      pieces: [bytes],
      rest: isWhole ? null : peeked,
      lengthBytes: isWhole ? bytes.length : answer.bodyLength,
      lastByte: null,
      tail: NOTHING,
    },
  };
}

const NOTHING = new Uint8Array(0);

const NO_PDF = new Denial('upstream_bad_response', 'Odoo answered with a page that is no PDF.', READ_ONLY);

function explainStatus(answer: EgressAnswer): Denial {
  if (answer.status === 500) {
    return new Denial(
      'upstream_bad_response',
      'Odoo could not print the document (HTTP 500): the log of the server has the cause, such as a missing wkhtmltopdf or an error in the report.',
      { ...READ_ONLY, detail: 'HTTP 500' },
    );
  }
  if (answer.status !== 404 && !isRedirect(answer)) return denyStatus(answer, READ_ONLY);
  return new Denial(
    'upstream_bad_response',
    'Odoo does not show the page of this record. If several databases are behind its address, set `dbfilter` or a host name for each.',
    { ...READ_ONLY, detail: `HTTP ${answer.status}` },
  );
}

function isRedirect({ status }: EgressAnswer): boolean {
  return status >= 300 && status < 400;
}

/**
 * Where the page has moved to because of its language: `/fr/my/orders/7` for `/my/orders/7`. Null: the answer is no
 * redirect, or one to something else.
 */
function findMoved(answer: EgressAnswer, path: string): string | null {
  const location = isRedirect(answer) ? readHeader(answer, 'location') : null;
  if (location === null || !URL.canParse(location, SAME_SERVER)) return null;
  const { pathname } = new URL(location, SAME_SERVER);
  const page = path.replace(/\?.*$/, '');
  const [, lang] = /^.*(\/[a-z]{2,3}(?:_[\w@]{2,16})?)$/.exec(pathname.slice(0, -page.length)) ?? [];
  return lang !== undefined && pathname.endsWith(page) ? lang + path : null;
}

/** Base for locations that are a path. Only the path is used. */
const SAME_SERVER = 'http://same.invalid';

/** A server with several databases shows no page, or that of another database, which does not know the token. */
function mayLackDatabase(answer: EgressAnswer): boolean {
  return answer.status === 404 || isRedirect(answer);
}

/**
 * Opens a session of nobody in the database of the target, for servers that read the database of a page from the
 * session alone (docs/odoo-facts.md#database-of-pages). Null: the server does not open one.
 */
async function openSession(
  target: Target,
  context: CallContext,
  deps: GetPdfDeps,
): Promise<string | null | Denial> {
  const path = `/web/login?db=${encodeURIComponent(target.db)}`;
  const answer = await send(target, path, new Map(), context, deps);
  if (answer instanceof Denial) return answer;
  answer.body.cancel();
  const set = answer.headers['set-cookie'];
  for (const cookie of Array.isArray(set) ? set : [set ?? '']) {
    const [, value] = /^session_id=([\w.-]{1,256})(?:;|$)/.exec(cookie) ?? [];
    if (value !== undefined) return value;
  }
  return null;
}

function readHeader({ headers }: EgressAnswer, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

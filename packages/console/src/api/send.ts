/**
 * Sends requests to the admin API. A request that is refused because the session has ended waits until the person has
 * signed in again, and is sent once more, so that input in a form is not lost. Knows no route.
 */
import type { Problem } from '@erp-proxy/contract';
import { ROOT } from './root.ts';
import { renewSession } from './session.ts';

/** A request below `/admin/v1`. Forms build it, and pages show it as code to copy. */
export interface AdminRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below `/admin/v1`, with escaped segments. */
  path: string;
  query?: Query | undefined;
  body?: unknown;
  /** The tag of the version that a change applies to. */
  ifMatch?: string | undefined;
}

export type Query = Record<string, string | number | boolean | undefined>;

/** An answer with an error status. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly problem: Problem;
  readonly requestId: string | null;

  constructor(problem: Problem, requestId: string | null) {
    super(problem.detail);
    this.problem = problem;
    this.requestId = requestId;
  }
}

const ADMIN_PATH = '/admin/v1';

/**
 * Returns the parsed answer; undefined for an empty one. Throws a ProblemError for an error, or a TypeError if there is
 * no answer.
 */
export async function send<Answer>(request: AdminRequest, signal?: AbortSignal): Promise<Answer> {
  const response = await sendRaw(request, signal);
  if (!response.ok) throw await readProblem(response);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Like {@link send}, but for answers that are streamed or not JSON. `headers` are sent in addition. */
export async function sendRaw(
  request: AdminRequest,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  const attempt = () => fetch(locate(request), describeInit(request, headers, signal));
  let response = await attempt();
  if (response.status === 401) {
    await renewSession(signal);
    response = await attempt();
  }
  if (!response.ok && isProblem(response)) throw await readProblem(response);
  return response;
}

/** The address of a request, for use by this page. */
export function locate(request: Pick<AdminRequest, 'path' | 'query'>): string {
  return ROOT.slice(0, -1) + printUrl(request);
}

/** Path and query of a request, below the address of the proxy. Omits query members that are undefined or empty. */
export function printUrl({ path, query = {} }: Pick<AdminRequest, 'path' | 'query'>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${ADMIN_PATH}${path}${text === '' ? '' : `?${text}`}`;
}

function describeInit(
  { method, body, ifMatch }: AdminRequest,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): RequestInit {
  return {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function isProblem(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
}

async function readProblem(response: Response): Promise<ProblemError> {
  const requestId = response.headers.get('x-request-id');
  const problem = isProblem(response) ? ((await response.json()) as Problem) : undefined;
  return new ProblemError(
    problem ?? {
      type: 'about:blank',
      title: response.statusText,
      status: response.status,
      detail: `The proxy answered with status ${response.status}.`,
    },
    requestId,
  );
}

/** Sends one request and reads its answer. Knows neither retries nor models. */
import { ErpProxyError, readError } from './errors.ts';

export interface PostRequest {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  url: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  requestId: string;
  idempotencyKey: string | undefined;
  /** False: if the connection breaks, the call may have run. */
  isReadOnly: boolean;
}

export interface Posted {
  status: number;
  headers: Headers | null;
  /** The parsed body; null if there is an error. */
  answer: unknown;
  error: ErpProxyError | null;
}

/** Statuses of servers in front of the proxy that say that it cannot be reached now. */
const PASSING_STATUSES = [429, 502, 503, 504];

/** An abort is thrown as the reason of the signal. Other failures are part of the result. */
export async function post(request: PostRequest): Promise<Posted> {
  const { fetch, url, headers, body, signal, requestId, idempotencyKey, isReadOnly } = request;
  const outcome = isReadOnly ? undefined : 'unknown';
  // With an idempotency key a write runs at most once, however often it is sent.
  const retryable = isReadOnly || idempotencyKey !== undefined;
  const { origin } = new URL(url);
  let response: Response;
  let text: string;
  try {
    // A redirect could carry the client key to another server.
    response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    text = await response.text();
  } catch (cause) {
    signal.throwIfAborted();
    const details = { retryable, outcome, requestId, idempotencyKey, cause } as const;
    const message = `No answer from ${origin}: ${explainCause(cause)}.`;
    const error = new ErpProxyError('connection_failed', message, details);
    return { status: 0, headers: null, answer: null, error };
  }
  const { status } = response;
  const known = {
    status,
    requestId: response.headers.get('x-request-id') ?? requestId,
    retryAfter: readSeconds(response.headers.get('retry-after')),
    idempotencyKey,
  };
  const refuse = (error: ErpProxyError) => ({ status, headers: response.headers, answer: null, error });
  const answer = parse(text);
  if (isAnswer(answer)) {
    if (!Array.isArray(answer) && 'error' in answer) return refuse(readError(answer.error, known));
    return { status, headers: response.headers, answer, error: null };
  }
  return refuse(
    new ErpProxyError(
      'invalid_answer',
      `The answer of ${origin} (HTTP status ${status}) is not one of erp-proxy; check the address.`,
      { ...known, retryable: retryable && PASSING_STATUSES.includes(status), outcome },
    ),
  );
}

function isAnswer(answer: unknown): answer is object {
  if (typeof answer !== 'object' || answer === null) return false;
  return Array.isArray(answer) || ('jsonrpc' in answer && ('result' in answer || 'error' in answer));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readSeconds(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Node has the reason in `cause`. */
function explainCause(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || 'the connection failed';
}

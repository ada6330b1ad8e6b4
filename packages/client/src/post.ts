/** Sends one request and reads its answer. Knows neither retries nor models. */
import { ErpProxyError, readError } from './errors.ts';

export interface PostRequest {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  url: string;
  /** Default: POST. */
  method?: 'GET' | 'DELETE' | undefined;
  headers: Record<string, string>;
  body: NonNullable<RequestInit['body']>;
  signal: AbortSignal;
  requestId: string;
  idempotencyKey: string | undefined;
  /** False if the call may have run when the connection breaks. */
  isReadOnly: boolean;
}

export interface Posted {
  status: number;
  headers: Headers | null;
  /** The parsed body; null if there is an error. */
  answer: unknown;
  error: ErpProxyError | null;
}

/** Statuses by which a server in front of the proxy says that it cannot reach the proxy now. */
const PASSING_STATUSES = [429, 502, 503, 504];

/** Throws the reason of an abort. Returns any other failure. */
export async function post(request: PostRequest): Promise<Posted> {
  const { fetch, url, method, headers, body, signal } = request;
  let response: Response;
  let text: string;
  try {
    // Redirects are not followed: they could send the client key to another server.
    const sent = method === undefined ? { method: 'POST', body } : { method };
    response = await fetch(url, { ...sent, headers, signal, redirect: 'manual' });
    text = await response.text();
  } catch (cause) {
    signal.throwIfAborted();
    return { status: 0, headers: null, answer: null, error: explainFailure(cause, request) };
  }
  const { status } = response;
  const answer = parse(text);
  // Only a batch is sent as a list, and answered by one.
  const isBatch = (body as string)[0] === '[';
  if (isBatch ? Array.isArray(answer) : isJob(answer) || (isAnswer(answer) && !('error' in answer)))
    return { status, headers: response.headers, answer, error: null };
  return { status, headers: response.headers, answer: null, error: readRefusal(response, text, request) };
}

type Sent = Pick<PostRequest, 'url' | 'requestId' | 'idempotencyKey' | 'isReadOnly'>;

/** With an idempotency key a write runs at most once, however often it is sent. */
const isRepeatable = ({ isReadOnly, idempotencyKey }: Sent) => isReadOnly || idempotencyKey !== undefined;
const findOutcome = ({ isReadOnly }: Sent) => (isReadOnly ? undefined : 'unknown');

/** The error for a request without an answer. */
export function explainFailure(cause: unknown, sent: Sent): ErpProxyError {
  const { url, requestId, idempotencyKey } = sent;
  const message = `No answer from ${new URL(url).origin}: ${explainCause(cause)}.`;
  return new ErpProxyError('connection_failed', message, {
    retryable: isRepeatable(sent),
    outcome: findOutcome(sent),
    requestId,
    idempotencyKey,
    cause,
  });
}

/** The error for an answer that is not a success. */
export function readRefusal({ status, headers }: Response, text: string, sent: Sent): ErpProxyError {
  const known = {
    status,
    requestId: headers.get('x-request-id') ?? sent.requestId,
    retryAfter: readSeconds(headers.get('retry-after')),
    idempotencyKey: sent.idempotencyKey,
  };
  const answer = parse(text);
  if (isAnswer(answer) && 'error' in answer) return readError(answer.error, known);
  return new ErpProxyError(
    'invalid_answer',
    `The answer of ${new URL(sent.url).origin} (HTTP status ${status}) is not one of erp-proxy; check the address.`,
    {
      ...known,
      retryable: isRepeatable(sent) && PASSING_STATUSES.includes(status),
      outcome: findOutcome(sent),
    },
  );
}

function isAnswer(answer: unknown): answer is object {
  if (typeof answer !== 'object' || answer === null) return false;
  return 'jsonrpc' in answer && ('result' in answer || 'error' in answer);
}

/** A job that has failed has an `error`, too. */
function isJob(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'state' in answer;
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

/** Node gives the reason in `cause`. For TLS errors, only its code is short, such as ERR_SSL_WRONG_VERSION_NUMBER. */
function explainCause(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  if (cause?.code?.startsWith('ERR_SSL_')) return cause.code;
  return cause?.message || cause?.code || message || 'the connection failed';
}

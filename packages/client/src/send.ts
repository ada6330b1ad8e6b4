/** Sends calls with retries, within a time limit. Knows no model. */
import { ErpProxyError, readError } from './errors.ts';
import { limitTime, readTimeout, TIME_OVER, wait } from './limit-time.ts';
import { isReading } from './methods.ts';
import type { CallOptions, ExecuteCall, Hooks } from './options.ts';
import { type Posted, type PostRequest, post } from './post.ts';
import { chooseDelayMs, type RetryBudget } from './retry-budget.ts';

export interface SendSettings {
  /** Address of the execute route. */
  url: string;
  method?: PostRequest['method'];
  /** The preference by which a request becomes a job. */
  prefer?: string;
  key: string;
  timeout: number | undefined;
  /** True if values are exchanged in normalized form. */
  isNormalized: boolean;
  retries: number;
  idempotencyKeys: boolean;
  fetch: PostRequest['fetch'];
  hooks: Hooks;
  budget: RetryBudget;
}

export interface Sent {
  /** The parsed answer: an object with `result`, or the array of a batch. */
  answer: unknown;
  /** The limit that the policy of the key set in place of the call's. */
  limit: number | undefined;
  /** True if the proxy has normalized the values. */
  isNormalized: boolean;
}

/** The settings for another route than that of calls. */
export function toRoute(settings: SendSettings, route: string): SendSettings {
  return { ...settings, url: settings.url.replace(/execute$/, route) };
}

/** The proxy ends a call after five minutes at the latest. */
const ATTEMPT_MS_MAX = 310_000;
/** Longest wait before a retry if the call has no time limit. */
const WAIT_MS_MAX = 30_000;
/** The proxy gets this much less time, so that its own answer, which says whether the call ran, arrives in time. */
const RETURN_MS = 500;

/**
 * `body`: a call or a batch with its instance, sent as the same bytes in each attempt. With `file`, it is sent in a
 * header, and the file is the body.
 */
export async function send(
  settings: SendSettings,
  calls: readonly ExecuteCall[],
  body: unknown,
  options: CallOptions,
  file?: PostRequest['body'],
): Promise<Sent> {
  const { budget, hooks, retries } = settings;
  const timeout = readTimeout(options, settings);
  const endsMs = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
  const shown = calls.map(({ model_id, action, fn_name }) => ({
    model: model_id,
    action: fn_name || action,
  }));
  const isReadOnly = shown.every(({ action }) => isReading(action));
  const isKeyed = !isReadOnly && settings.idempotencyKeys;
  const idempotencyKey = options.idempotencyKey ?? (isKeyed ? crypto.randomUUID() : undefined);
  const id = crypto.randomUUID();
  const text = JSON.stringify(body);
  budget.countCall();
  for (let attempt = 1; ; attempt++) {
    const info = { calls: shown, attempt, requestId: attempt === 1 ? id : `${id}.${attempt}` };
    const headers: Record<string, string> = {};
    tell(() => hooks.onRequest?.({ ...info, headers }));
    const startedMs = performance.now();
    const leftMs = endsMs - startedMs;
    addHeaders(headers, settings, info.requestId, timeout && leftMs);
    if (file !== undefined) {
      headers['content-type'] = 'application/octet-stream';
      headers['x-erp-call'] = encodeURIComponent(text);
    }
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    if (options.approval !== undefined) headers['x-approval'] = [options.approval].join();
    const request = {
      ...settings,
      headers,
      body: file ?? text,
      requestId: info.requestId,
      idempotencyKey,
      isReadOnly,
    };
    const posted = await postInTime(Math.min(leftMs, ATTEMPT_MS_MAX), options.signal, request);
    const error = posted.error ?? findError(posted, info.requestId, idempotencyKey);
    const durationMs = performance.now() - startedMs;
    const timing = posted.headers?.get('server-timing') ?? null;
    tell(() => hooks.onResponse?.({ ...info, durationMs, status: posted.status, timing, error }));
    if (error?.retryable && attempt <= retries) {
      const delayMs = chooseDelayMs(attempt, error.retryAfter);
      const isInTime = timeout === undefined ? delayMs <= WAIT_MS_MAX : performance.now() + delayMs < endsMs;
      if (isInTime && budget.take()) {
        tell(() => hooks.onRetry?.({ ...info, delayMs, error }));
        await wait(delayMs, options.signal);
        continue;
      }
    }
    if (posted.error !== null) throw posted.error;
    const limit = posted.headers?.get('erp-proxy-limit');
    return {
      answer: posted.answer,
      limit: limit ? Number(limit) : undefined,
      isNormalized: posted.headers?.has('preference-applied') === true,
    };
  }
}

/** Rejects only with the reason of the caller's signal. A timeout is part of the result. */
async function postInTime(
  ms: number,
  signal: AbortSignal | undefined,
  request: Omit<PostRequest, 'signal'>,
): Promise<Posted> {
  try {
    return await limitTime(ms, signal, (limited) => post({ ...request, signal: limited }));
  } catch (cause) {
    if (cause !== TIME_OVER) throw cause;
    const { isReadOnly, requestId, idempotencyKey } = request;
    const error = new ErpProxyError('client_timeout', 'The call took longer than its time limit.', {
      retryable: isReadOnly || idempotencyKey !== undefined,
      outcome: isReadOnly ? undefined : 'unknown',
      requestId,
      idempotencyKey,
    });
    return { status: 0, headers: null, answer: null, error };
  }
}

/**
 * Returns the first error of a batch that a retry may remove, or else the first error. In a retry, the proxy repeats
 * the answers that are final.
 */
function findError(
  { answer, status }: Posted,
  requestId: string,
  idempotencyKey: string | undefined,
): ErpProxyError | null {
  if (!Array.isArray(answer)) return null;
  const errors = answer
    .filter(({ error }) => error)
    .map(({ error }) => readError(error, { status, requestId, idempotencyKey }));
  return errors.find(({ retryable }) => retryable) ?? errors[0] ?? null;
}

/** Adds the headers that every request has. `timeout`: milliseconds that are left for the proxy and this side. */
export function addHeaders(
  headers: Record<string, string>,
  { key, isNormalized, prefer }: Pick<SendSettings, 'key' | 'isNormalized' | 'prefer'>,
  requestId: string,
  timeout: number | undefined,
): void {
  headers['content-type'] = 'application/json';
  headers['x-proxy-api'] = key;
  headers['x-request-id'] = requestId;
  const preferences = [isNormalized && 'values=normalized', prefer].filter(Boolean);
  if (preferences[0]) headers['prefer'] = preferences.join(', ');
  if (timeout !== undefined)
    headers['x-request-timeout'] = `${Math.max(1, Math.floor((timeout - RETURN_MS) / 1000))}`;
}

/** The error of a call whose values were not normalized although they should be. */
export function explainForm(): ErpProxyError {
  const message =
    'The values are not normalized: the proxy could not read the types of the fields, or is too old.';
  return new ErpProxyError('invalid_answer', message, { status: 200 });
}

/** Calls a hook. Its error must not fail a call that has run. */
export function tell(hook: () => void): void {
  try {
    hook();
  } catch {}
}

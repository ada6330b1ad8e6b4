/** Downloads a file or a document, with retries until its first byte. */
import type { ErpProxyError } from './errors.ts';
import { limitTime, readTimeout, TIME_OVER, wait } from './limit-time.ts';
import type { CallOptions } from './options.ts';
import { explainFailure, readRefusal } from './post.ts';
import { chooseDelayMs } from './retry-budget.ts';
import { addHeaders, type SendSettings, tell, toRoute } from './send.ts';

/** The route, and the body of the request. */
interface FileRequest {
  route: 'download' | 'document';
  model: string;
  call: object;
}

export async function download(
  settings: SendSettings,
  { route, model, call }: FileRequest,
  options: CallOptions,
): Promise<Response> {
  const { hooks, budget, retries } = settings;
  const { signal } = options;
  const timeout = readTimeout(options, settings);
  const { url } = toRoute(settings, route);
  const body = JSON.stringify(call);
  budget.countCall();
  for (let attempt = 1; ; attempt++) {
    const requestId = crypto.randomUUID();
    const info = { calls: [{ model, action: route }], attempt, requestId };
    const sent = { url, requestId, isReadOnly: true, idempotencyKey: undefined };
    const headers: Record<string, string> = {};
    tell(() => hooks.onRequest?.({ ...info, headers }));
    addHeaders(headers, { key: settings.key, isNormalized: false }, requestId, timeout);
    const startedMs = performance.now();
    let response: Response | null = null;
    let error: ErpProxyError | null = null;
    try {
      const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
      // The time limit ends with the response's head, because a large file takes longer. The caller's signal also ends
      // the file.
      response = await limitTime(
        Math.min(timeout ?? ATTEMPT_MS_MAX, ATTEMPT_MS_MAX),
        undefined,
        (limited) => {
          const both = signal ? AbortSignal.any([signal, limited]) : limited;
          return settings.fetch(url, { ...init, signal: both });
        },
      );
      // Only a file has this header. Checking for JSON would not do, because a file can be JSON, too.
      if (!response.headers.has('content-disposition'))
        error = readRefusal(response, await response.text(), sent);
    } catch (cause) {
      signal?.throwIfAborted();
      error = explainFailure(cause === TIME_OVER ? new Error('it took too long') : cause, sent);
    }
    const timing = response?.headers.get('server-timing') ?? null;
    const durationMs = performance.now() - startedMs;
    tell(() => hooks.onResponse?.({ ...info, durationMs, status: response?.status ?? 0, timing, error }));
    if (error === null) return response!;
    if (!error.retryable || attempt > retries || !budget.take()) throw error;
    const delayMs = chooseDelayMs(attempt, error.retryAfter);
    tell(() => hooks.onRetry?.({ ...info, delayMs, error }));
    await wait(delayMs, signal);
  }
}

/** The proxy ends a call without an answer after five minutes at the latest. */
const ATTEMPT_MS_MAX = 310_000;

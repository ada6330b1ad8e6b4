/** Sends one request whose answer has lines, and yields them as they arrive. Knows no retries. */
import { ErpProxyError } from './errors.ts';
import { readTimeout, TIME_OVER } from './limit-time.ts';
import type { CallOptions, ExecuteCall } from './options.ts';
import { explainFailure, readRefusal } from './post.ts';
import { addHeaders, explainForm, type SendSettings, tell, toRoute } from './send.ts';

export type OpenLines = (call: ExportAsk, options: CallOptions, attempt: number) => AsyncGenerator<string>;

export interface ExportAsk {
  model_id: string;
  domain: readonly unknown[];
  fields: readonly string[];
  after?: number | undefined;
  limit?: number | undefined;
  format?: 'csv';
  bom?: boolean | undefined;
  delimiter?: string | undefined;
  escape_formulas?: boolean | undefined;
}

/**
 * A connection that delivers no byte for this long counts as broken. The proxy itself is silent for two minutes at
 * most.
 */
const SILENCE_MS_MAX = 310_000;

/** `shown`: the call for hooks. */
export async function* sendExport(
  settings: SendSettings,
  route: string,
  shown: ExecuteCall,
  body: object,
  options: CallOptions,
  attempt: number,
): AsyncGenerator<string> {
  const { url } = toRoute(settings, route);
  const { hooks } = settings;
  const { signal } = options;
  const timeout = readTimeout(options, settings);
  const requestId = crypto.randomUUID();
  const info = { calls: [{ model: shown.model_id, action: shown.action }], attempt, requestId };
  const sent = { url, requestId, isReadOnly: route === 'export', idempotencyKey: options.idempotencyKey };
  const headers: Record<string, string> = {};
  tell(() => hooks.onRequest?.({ ...info, headers }));
  addHeaders(headers, settings, requestId, timeout);
  if (options.idempotencyKey) headers['idempotency-key'] = options.idempotencyKey;
  settings.budget.countCall();
  signal?.throwIfAborted();
  const controller = new AbortController();
  const passOn = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', passOn);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(TIME_OVER), SILENCE_MS_MAX);
  };
  const startedMs = performance.now();
  const report = (status: number, timing: string | null, error: unknown) =>
    tell(() =>
      hooks.onResponse?.({ ...info, durationMs: performance.now() - startedMs, status, timing, error }),
    );
  watch();
  let isReported = false;
  try {
    const init = { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual' } as const;
    const response = await settings.fetch(url, { ...init, signal: controller.signal });
    const { status } = response;
    const isExport = /ndjson|csv/.test(response.headers.get('content-type') ?? '');
    const error = isExport ? null : readRefusal(response, await response.text(), sent);
    report(status, response.headers.get('server-timing'), error);
    isReported = true;
    if (error !== null) throw error;
    if (settings.isNormalized && !response.headers.has('preference-applied')) throw explainForm();
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const reader = response.body!.getReader();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
      rest = lines.pop()!;
      // No limit while the caller handles the lines.
      clearTimeout(timer);
      yield* lines;
      watch();
    }
    if (rest !== '') throw new Error('the answer ends within a record');
  } catch (cause) {
    if (cause instanceof ErpProxyError) throw cause;
    signal?.throwIfAborted();
    const error = explainFailure(cause, sent);
    if (!isReported) report(0, null, error);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', passOn);
    // Ends the export in the proxy when the caller stops reading.
    controller.abort();
  }
}

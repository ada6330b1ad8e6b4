/**
 * Reads a JSON-RPC message of an agent as far as needed to recognise one that the SDK has judged before. The SDK
 * remains the judge of every message that is new in any way.
 */
import { isObject } from '../json/is-object.ts';
import type { McpRequest } from './mcp-request.ts';
import type { CallMeta } from './session.ts';

export interface Message {
  id: string | number;
  method: string;
  params: Record<string, unknown>;
  /** `_meta` of the parameters, without what changes from request to request. */
  meta: Record<string, unknown>;
}

const IDEMPOTENCY_KEY = 'idempotency-key';
/** Members of `_meta` that say nothing about the client. The SDK accepts any text in the last ones. */
const PROGRESS_TOKEN = 'progressToken';
const CALL_MEMBERS = ['traceparent', 'tracestate', 'baggage', IDEMPOTENCY_KEY];

/** Null if the body is no request, or is none that can be recognised. */
export function readMessage(body: unknown): Message | null {
  if (!isObject(body)) return null;
  const { jsonrpc, id, method, params = {}, ...others } = body;
  for (const _ in others) return null;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params)) return null;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  const { _meta = {} } = params;
  if (!isObject(_meta)) return null;
  const meta: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(_meta)) {
    if (name === PROGRESS_TOKEN) {
      if (typeof value !== 'string' && !Number.isSafeInteger(value)) return null;
    } else if (!CALL_MEMBERS.includes(name)) meta[name] = value;
    else if (typeof value !== 'string') return null;
  }
  return { id: id as string | number, method, params, meta };
}

/** The headers and values of a request as one text. */
export function nameRequest(
  request: McpRequest,
  headers: readonly string[],
  values: readonly unknown[],
): string {
  let name = '';
  // A line break cannot be part of a header.
  for (const header of headers) name += `${request.header(header) ?? '\n'}\n`;
  return name + JSON.stringify(values);
}

/** What `_meta` of a message says about its calls. */
export function readCallMeta(body: unknown): CallMeta {
  const params = isObject(body) ? body['params'] : undefined;
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? { idempotencyKey: meta[IDEMPOTENCY_KEY], traceparent: meta['traceparent'] } : {};
}

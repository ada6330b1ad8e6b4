/**
 * The JSON-RPC envelope: the echoed id, omitted results, and the error object of each version
 * (docs/odoo-facts.md#envelope-of-json-rpc, docs/odoo-facts.md#error-object-of-json-rpc).
 */

import { isUtf8 } from 'node:buffer';
import { printParts } from '../json/print-parts.ts';
import { readJson } from '../json/read-json.ts';
import { isObject, type Json } from '../json/value.ts';
import type { Wire } from '../versions/personality.ts';
import type { Body } from './collect-body.ts';
import { describeFault, toFault } from './describe-fault.ts';
import { replyInternalError, replyInvalidJson } from './old-pages.ts';
import { contentLength, nosniff, type Reply, replyJson } from './reply.ts';

export interface JsonrpcRequest {
  readonly id: Json;
  readonly params: Json;
}

/** Parses the request in the body, or returns Odoo's 400. Invalid UTF-8 silently becomes U+FFFD. */
export function readRequest(body: Body, wire: Wire): JsonrpcRequest | Reply {
  const refuse = (text: string): Reply => ({
    status: 400,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      contentLength,
      ...(wire.nosniff ? [nosniff] : []),
    ],
    body: text,
  });
  const text = body.text.toString('utf8');
  if (wire.oldPages && !isUtf8(body.text)) return replyInternalError();
  try {
    const request = readJson(text, body.binaries);
    if (!isObject(request)) return wire.oldPages ? replyInternalError() : refuse('Invalid JSON-RPC data');
    if (wire.oldPages && !isCall(request['params'])) return replyInternalError();
    return { id: request['id'] ?? null, params: request['params'] ?? null };
  } catch {
    return wire.oldPages ? replyInvalidJson(body.text) : refuse('Invalid JSON data');
  }
}

export function replyResult(
  id: Json,
  result: Json | undefined,
  wire: Wire,
  cookies: Reply['headers'] = [],
): Reply {
  const envelope: Record<string, Json> = { jsonrpc: '2.0', id };
  if (result !== undefined) envelope['result'] = result;
  return replyEnvelope(envelope, [...cookies, ...(wire.nosniff ? [nosniff] : [])], wire);
}

export function replyFault(
  id: Json,
  error: unknown,
  wire: Wire,
  headers: Reply['headers'] = [],
  status = 200,
): Reply {
  const fault = toFault(error);
  const isSession = fault.name === 'odoo.http.SessionExpiredException';
  const isMissing = fault.name === 'werkzeug.exceptions.NotFound';
  const [code, message] = isSession
    ? [100, 'Odoo Session Expired']
    : isMissing
      ? [404, '404: Not Found']
      : [wire.errorCode, 'Odoo Server Error'];
  const shown = {
    code,
    message,
    data: describeFault(fault, wire),
  };
  return replyEnvelope({ jsonrpc: '2.0', id, error: shown }, headers, wire, status);
}

function replyEnvelope(envelope: Json, headers: Reply['headers'], wire: Wire, status = 200): Reply {
  if (!wire.plainJsonType) return replyJson(envelope, headers, status);
  return {
    status,
    headers: [['Content-Type', 'application/json'], contentLength, ...headers],
    body: printParts(envelope, wire.escapesNonAscii ? escapeNonAscii : undefined),
  };
}

/** Escapes non-ASCII characters, like Python's json.dumps by default. They occur in strings only. */
function escapeNonAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isCall(params: Json = {}): boolean {
  return isObject(params) && isObject(params['context'] ?? {});
}

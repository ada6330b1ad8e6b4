/** The JSON-RPC envelope: id echo, missing results, the error object of each version (FACTS 1 and 2). */
import { readJson } from '../json/read-json.ts';
import { isObject, type Json } from '../json/value.ts';
import type { Wire } from '../versions/personality.ts';
import { describeFault, toFault } from './describe-fault.ts';
import { contentLength, nosniff, type Reply, replyJson } from './reply.ts';

export interface JsonrpcRequest {
  readonly id: Json;
  readonly params: Json;
}

/** The request in the body, or the 400 that Odoo gives. Invalid UTF-8 becomes U+FFFD, silently. */
export function readRequest(body: Buffer, wire: Wire): JsonrpcRequest | Reply {
  const refuse = (text: string): Reply => ({
    status: 400,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      contentLength,
      ...(wire.nosniff ? [nosniff] : []),
    ],
    body: text,
  });
  try {
    const request = readJson(body.toString('utf8'));
    if (!isObject(request)) return refuse('Invalid JSON-RPC data');
    return { id: request['id'] ?? null, params: request['params'] ?? null };
  } catch {
    return refuse('Invalid JSON data');
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
  return replyJson(envelope, [...cookies, ...(wire.nosniff ? [nosniff] : [])]);
}

export function replyFault(id: Json, error: unknown, wire: Wire): Reply {
  const fault = toFault(error);
  const isSession = fault.name === 'odoo.http.SessionExpiredException';
  const shown = {
    code: isSession ? 100 : wire.errorCode,
    message: isSession ? 'Odoo Session Expired' : 'Odoo Server Error',
    data: describeFault(fault, wire),
  };
  return replyJson({ jsonrpc: '2.0', id, error: shown }, []);
}

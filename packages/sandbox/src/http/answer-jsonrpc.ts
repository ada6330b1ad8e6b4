/** The JSON-RPC envelope: id echo, missing results, the error object of each version (FACTS 1 and 2). */
import { printJson } from '../json/print-json.ts';
import { readJson } from '../json/read-json.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { Fault } from '../orm/fault.ts';
import type { Wire } from '../versions/personality.ts';
import { printTraceback } from './print-traceback.ts';
import { contentLength, nosniff, type Reply, replyHtml } from './reply.ts';

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
  return replyJson({ jsonrpc: '2.0', id, error: describeFault(error, wire) }, []);
}

export function replyJson(value: JsonObject, headers: Reply['headers']): Reply {
  const body = printJson(value);
  if (!body.isWellFormed()) {
    return replyHtml(
      500,
      '500 Internal Server Error',
      'The server encountered an internal error and was unable to complete your request. Either the server is overloaded or there is an error in the application.',
    );
  }
  return {
    status: 200,
    headers: [contentLength, ['Content-Type', 'application/json; charset=utf-8'], ...headers],
    body,
  };
}

function describeFault(error: unknown, wire: Wire): JsonObject {
  const fault = error instanceof Fault ? error : new Fault('builtins.RuntimeError', String(error));
  const isSession = fault.name === 'odoo.http.SessionExpiredException';
  const isBare = fault.name === 'odoo.exceptions.AccessDenied' && !wire.accessDeniedTraceback;
  const debug = isBare ? `${fault.name}: ${fault.message}\n` : printTraceback(fault);
  const { name, message } = fault;
  const rest = { message, arguments: fault.arguments, context: {} };
  return {
    code: isSession ? 100 : wire.errorCode,
    message: isSession ? 'Odoo Session Expired' : 'Odoo Server Error',
    data: wire.debugFirst ? { name, debug, ...rest } : { name, ...rest, debug },
  };
}

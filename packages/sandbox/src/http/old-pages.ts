/**
 * The answers of Odoo 14 and 15 before a call runs (docs/odoo-facts.md#early-errors-14): pages that repeat the body of
 * the request with its key, 500 for JSON that is not a call, and a JSON error for an unknown path.
 */
import { Fault } from '../orm/fault.ts';
import type { Reply } from './reply.ts';
import { replyHtml } from './reply.ts';

export function replyInvalidJson(body: Buffer): Reply {
  return replyHtml(400, '400 Bad Request', `Invalid JSON data: &#39;${escapeHtml(body.toString())}&#39;`);
}

export function replyInternalError(): Reply {
  return replyHtml(
    500,
    '500 Internal Server Error',
    'The server encountered an internal error and was unable to complete your request. Either the server is overloaded or there is an error in the application.',
  );
}

/** The answer to a bad request, also to a truncated body. */
export function replyBadRequest(): Reply {
  return replyHtml(
    400,
    '400 Bad Request',
    'The browser (or proxy) sent a request that this server could not understand.',
  );
}

export function replyWrongTypeOrMethod(method: string): Reply {
  if (method === 'GET' || method === 'OPTIONS') {
    const text =
      '&lt;function RPC.jsonrpc at 0x7f2c4c0d9ee0&gt;, /jsonrpc: Function declared as capable of handling request of type &#39;json&#39; but called with a request of type &#39;http&#39;';
    return replyHtml(400, '400 Bad Request', text);
  }
  return replyHtml(400, '400 Bad Request', 'Session expired (invalid CSRF token)');
}

export const routeNotFound = () =>
  new Fault(
    'werkzeug.exceptions.NotFound',
    '404 Not Found: The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
    [],
  );

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;');
}

/** The parts of an answer, and functions that make an answer from JSON or from one of Werkzeug's plain pages. */
import { type Parts, printParts } from '../json/print-parts.ts';
import type { Json } from '../json/value.ts';

/** An answer before it is written: status, headers in wire order, body. */
export interface Reply {
  readonly status: number;
  /** The headers between Date and Connection. The length of the body goes where `Content-Length` is. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Parts;
}

export const contentLength = ['Content-Length', ''] as const;
export const nosniff = ['X-Content-Type-Options', 'nosniff'] as const;

export function replyHtml(
  status: number,
  title: string,
  text: string,
  headers: Reply['headers'] = [],
): Reply & { readonly body: string } {
  return {
    status,
    headers: [['Content-Type', 'text/html; charset=utf-8'], contentLength, ...headers],
    body: `<!doctype html>\n<html lang=en>\n<title>${title}</title>\n<h1>${title.replace(/^\d+ /, '')}</h1>\n<p>${text}</p>\n`,
  };
}

export function replyJson(value: Json, headers: Reply['headers'], status = 200): Reply {
  const body = printParts(value);
  if (typeof body === 'string' && !body.isWellFormed()) {
    return replyHtml(
      500,
      '500 Internal Server Error',
      'The server encountered an internal error and was unable to complete your request. Either the server is overloaded or there is an error in the application.',
    );
  }
  return {
    status,
    headers: [contentLength, ['Content-Type', 'application/json; charset=utf-8'], ...headers],
    body,
  };
}

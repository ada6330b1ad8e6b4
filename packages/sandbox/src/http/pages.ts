/** Odoo's HTML answers: 404 pages, redirects, cookies, wrong content types. */
import { randomBytes } from 'node:crypto';
import type { Wire } from '../versions/personality.ts';
import { contentLength, nosniff, type Reply, replyHtml } from './reply.ts';

export function replyNotFound(wire: Wire): Reply {
  const language = ['Set-Cookie', `frontend_lang=en_US; Expires=${printDateIn(365)}; Path=/`] as const;
  const cookies = [language, bakeSession(wire)];
  return {
    status: 404,
    headers: [
      ['Content-Type', 'text/html;charset=utf-8'],
      contentLength,
      ...cookies,
      ...(wire.cookiesTwice ? cookies : []),
      ...(wire.nosniff ? [nosniff] : []),
    ],
    body: notFoundPage,
  };
}

export function replyRedirect(location: string, headers: Reply['headers']): Reply {
  const page = replyHtml(
    303,
    'Redirecting...',
    `You should be redirected automatically to the target URL: <a href="${location}">${location}</a>. If not, click the link.`,
  );
  // Werkzeug does not close the paragraph of a redirect.
  return {
    ...page,
    body: page.body.replace('</p>', ''),
    headers: [...page.headers, ['Location', location], ...headers],
  };
}

export function replyWrongContentType(wire: Wire, path: string, method: string): Reply {
  const { status, routeType } = wire.wrongContentType;
  const isBodyless = status === 415 && method !== 'POST' && method !== 'PUT';
  const types = isBodyless ? ['http', 'json2'] : ['http'];
  if (status === 415)
    return replyUnsupportedMedia(types, path, routeType, 'application/json, application/json-rpc');
  return replyHtml(400, '400 Bad Request', explainType(types, path, routeType));
}

export function replyUnsupportedMedia(
  types: readonly string[],
  route: string,
  routeType: string,
  accepted: string,
): Reply {
  return replyHtml(
    415,
    '415 Unsupported Media Type',
    `${explainType(types, route, routeType)}<br><br>Please verify the Content-Type request header and try again.`,
    [['Accept', accepted]],
  );
}

/** The answer if X-Odoo-Database names no database of this server (docs/odoo-facts.md#json2-pages). */
export function replyNoDatabase(): Reply {
  return {
    status: 404,
    headers: [['Content-Type', 'text/html; charset=utf-8'], contentLength],
    body: `<!DOCTYPE html>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>No database is selected and the requested URL was not found in the server-wide controllers.</p>
<p>Please verify the hostname, <a href=/web/login>login</a> and try again.</p>

<!-- Alternatively, use the X-Odoo-Database header. -->
`,
  };
}

export function bakeSession(wire: Wire): readonly [string, string] {
  const id = wire.longSessionIds ? randomBytes(63).toString('base64url') : randomBytes(20).toString('hex');
  return [
    'Set-Cookie',
    `session_id=${id}; Expires=${printDateIn(wire.longSessionIds ? 365 : 7)}; Max-Age=604800; HttpOnly; Path=/`,
  ];
}

function explainType(types: readonly string[], route: string, routeType: string): string {
  const listed = types.map((type) => `&#39;${type}&#39;`).join(', ');
  const shown = route.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `Request inferred type is compatible with [${listed}] but &#39;${shown}&#39; is type=&#39;${routeType}&#39;.`;
}

function printDateIn(days: number): string {
  return new Date(Date.now() + days * 24 * 3600 * 1000).toUTCString();
}

// The real page is 6 KB of site layout. Clients must cope with its size, not its content.
const notFoundPage = `<!DOCTYPE html>
<html>
    <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <title>Odoo</title>
    </head>
    <body>
        <h1 class="container mt-5">404: Not Found</h1>
${'        <p class="o_not_found">The page you were looking for could not be found.</p>\n'.repeat(72)}    </body>
</html>
`;

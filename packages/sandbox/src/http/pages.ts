/** What Odoo answers outside JSON-RPC: the 404 page, redirects, cookies, wrong content types. */
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
  // Werkzeug leaves the paragraph of a redirect open.
  return {
    ...page,
    body: page.body.replace('</p>', ''),
    headers: [...page.headers, ['Location', location], ...headers],
  };
}

export function replyWrongContentType(wire: Wire, path: string, method: string): Reply {
  const { status, routeType } = wire.wrongContentType;
  const types =
    status === 415 && method !== 'POST' && method !== 'PUT'
      ? '[&#39;http&#39;, &#39;json2&#39;]'
      : '[&#39;http&#39;]';
  const text = `Request inferred type is compatible with ${types} but &#39;${path}&#39; is type=&#39;${routeType}&#39;.`;
  if (status === 400) return replyHtml(400, '400 Bad Request', text);
  return replyHtml(
    415,
    '415 Unsupported Media Type',
    `${text}<br><br>Please verify the Content-Type request header and try again.`,
    [['Accept', 'application/json, application/json-rpc']],
  );
}

export function bakeSession(wire: Wire): readonly [string, string] {
  const id = wire.longSessionIds ? randomBytes(63).toString('base64url') : randomBytes(20).toString('hex');
  return [
    'Set-Cookie',
    `session_id=${id}; Expires=${printDateIn(wire.longSessionIds ? 365 : 7)}; Max-Age=604800; HttpOnly; Path=/`,
  ];
}

function printDateIn(days: number): string {
  return new Date(Date.now() + days * 24 * 3600 * 1000).toUTCString();
}

// The real page is 6 KB of site layout; its size is what an impatient reader of bodies must survive.
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

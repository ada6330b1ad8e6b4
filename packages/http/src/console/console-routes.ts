/**
 * Serves the console, a web page for administrators: `index.html` at the paths for which its script has pages, and its
 * files at `/assets`. The page calls `/admin/v1` like any other client, so its files are no secret.
 */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendFile } from '../send-file.ts';
import { placePage, readPageFiles } from './page-files.ts';

export interface ConsoleRoutesDeps {
  /** The setting `console.enabled`. */
  enabled: boolean;
  /** Folder of the built page. */
  folder: string;
  /** True if a reverse proxy serves the console below a path: the addresses in the page are then relative. */
  isBelowPath: boolean;
}

/** Depth of the console's deepest path, in folders below the address of the proxy. */
const DEPTH_MAX = 4;

/** The paths for which the script has pages. */
const PATHS = [
  '/',
  '/sign-in',
  '/start',
  '/playground',
  '/me',
  '/fleet',
  '/jobs',
  '/connect/*',
  ...['/calls', '/keys', '/people', '/instances', '/subscriptions', '/approvals'].flatMap((path) => [
    path,
    `${path}/*`,
  ]),
];

/** True if the console has a page at this path. */
export function isConsolePath(path: string): boolean {
  return PATHS.some((known) => (known.endsWith('/*') ? path.startsWith(known.slice(0, -1)) : path === known));
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
const REVALIDATED = { ...HEADERS, 'cache-control': 'no-cache' };
/** Cached for long, because the name of an asset contains a hash of its content. */
const UNCHANGING = { ...HEADERS, 'cache-control': 'public, max-age=31536000, immutable' };

/** Folder of the built page. In the published package, whose code is bundled as JavaScript, it is beside the bundle. */
export const CONSOLE_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../console/dist' : '../console', import.meta.url),
);

export function addConsoleRoutes(
  app: FastifyInstance,
  { enabled, folder, isBelowPath }: ConsoleRoutesDeps,
): void {
  if (!enabled) return;
  const page = readPageFiles(folder);
  if (page === null) {
    for (const path of PATHS) app.get(path, (_request, reply) => answerUnbuilt(reply));
    return;
  }
  const { index } = page;
  const byDepth = isBelowPath
    ? Array.from({ length: DEPTH_MAX + 1 }, (_, depth) => placePage(index, depth))
    : [index];
  for (const path of PATHS) {
    app.get(path, (request, reply) => {
      const depth = request.url.replace(/\?.*/s, '').split('/').length - 2;
      return sendFile(byDepth[Math.min(depth, byDepth.length - 1)] ?? index, REVALIDATED, request, reply);
    });
  }
  for (const file of page.assets) {
    app.get(`/${file.name}`, (request, reply) => sendFile(file, UNCHANGING, request, reply));
  }
}

function answerUnbuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({ ...HEADERS, 'cache-control': 'no-store' })
    .type('text/plain; charset=utf-8')
    .send('The console is not built. Run "npm run build" in the checkout, then start the proxy again.\n');
}

/**
 * `GET /docs`: the reference page, which shows the OpenAPI document and can send requests. The page consists of files
 * of this package only, and may load nothing from elsewhere. Knows nothing of the document.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const FILES = [
  { path: '/docs', name: 'reference.html', type: 'text/html; charset=utf-8' },
  { path: '/docs/reference.css', name: 'reference.css', type: 'text/css; charset=utf-8' },
  { path: '/docs/reference.js', name: 'reference.js', type: 'text/javascript; charset=utf-8' },
] as const;

const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export function addReferenceRoutes(app: FastifyInstance): void {
  for (const { path, name, type } of FILES) {
    // scripts/pack/bundle-program.ts copies the files beside the bundle.
    const content = readFileSync(new URL(name, import.meta.url));
    app.get(path, (_request, reply) => reply.headers({ ...HEADERS, 'content-type': type }).send(content));
  }
}

/**
 * `GET /llms.txt` and `GET /docs/<page>.md`: the documentation of this version as Markdown, for agents, and its list in
 * the format of https://llmstxt.org. Knows no content of the pages.
 */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { makeServedFile, type ServedFile, sendFile } from '../send-file.ts';
import { Pages } from './read-pages.ts';

export interface PageRoutesDeps {
  /** Version of this program. */
  version: string;
  /** The setting `http.publicUrl`. */
  publicUrl: string | null;
}

/** Folder of the pages. In the published package, whose code is bundled as JavaScript, it is beside the bundle. */
const FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../../docs' : '../docs', import.meta.url),
);
/** What a reader needs first. The other pages follow by name. */
const FIRST = ['calling.md', 'execute.md', 'actions.md', 'errors.md', 'policies.md', 'mcp.md'];
/** What a caller and an operator can leave out. */
const OPTIONAL = ['benchmarks.md', 'odoo-facts.md', 'releasing.md', 'reliability.md'];

const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

export function addPageRoutes(app: FastifyInstance, { version, publicUrl }: PageRoutesDeps): void {
  const pages = new Pages(FOLDER);
  const files = new Map<string, ServedFile>();
  const render = (name: string, type: string, text: () => string) => {
    const kind = { type: `${type}; charset=utf-8`, isCompressible: true };
    const file = files.get(name) ?? makeServedFile(kind, Buffer.from(text()));
    files.set(name, file);
    return file;
  };
  app.get('/llms.txt', (request, reply) => {
    const file = render('', 'text/plain', () => renderList(pages, version, publicUrl));
    return sendFile(file, HEADERS, request, reply);
  });
  app.get<{ Params: { page: string } }>('/docs/:page', (request, reply) => {
    const page = pages.find(request.params.page);
    if (page === undefined) return reply.callNotFound();
    return sendFile(
      render(page.name, 'text/markdown', () => page.text),
      HEADERS,
      request,
      reply,
    );
  });
}

/** Addresses are relative to the list if the proxy does not know its own. */
function renderList(pages: Pages, version: string, publicUrl: string | null): string {
  const base = publicUrl === null ? '' : `${publicUrl.replace(/\/+$/, '')}/`;
  const list = (names: readonly string[]) =>
    names
      .map((name) => pages.find(name))
      .filter((page) => page !== undefined)
      .map(({ name, title, summary }) => `- [${title}](${base}docs/${name}): ${summary}\n`)
      .join('');
  const others = pages.names.filter((name) => !FIRST.includes(name) && !OPTIONAL.includes(name));
  return `# erp-proxy ${version}

> One HTTP endpoint in front of every Odoo server.

Programs send calls to \`POST /api/erp/execute\`, agents to \`POST /mcp\`. Both need a client key or a token. These pages
describe the version that runs at this address, and need no key.

## Docs

${list(FIRST)}${list(others)}
## API

- [OpenAPI](${base}openapi.json): All routes, with their parameters, shapes and errors.

## Optional

${list(OPTIONAL)}`;
}

/**
 * Tells callers where to get a token (RFC 9728): the metadata of this proxy as a protected resource, and the challenge
 * of a 401 that points to it. Both use `http.publicUrl`, because callers choose the header `host`. Without issuers, the
 * proxy has neither.
 */
import type { FastifyInstance } from 'fastify';

export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

export interface TokenIssuer {
  readonly url: string;
  /** Scopes that its tokens need for a route. */
  readonly scopes: (path: string) => readonly string[];
}

export interface ProtectedResource {
  /** Value of `www-authenticate` for a route, without an error; null if tokens are not accepted. */
  describeChallenge(path: string): string | null;
  /** Adds the metadata of the proxy, and of each route that has a challenge. */
  addRoutes(app: FastifyInstance): void;
}

export function createProtectedResource(
  publicUrl: string | null,
  issuers: readonly TokenIssuer[],
): ProtectedResource {
  if (publicUrl === null || issuers.length === 0) {
    return { describeChallenge: () => null, addRoutes: () => {} };
  }
  const { origin, pathname } = new URL(publicUrl);
  const prefix = pathname.replace(/\/$/, '');
  const paths = new Set(['']);

  /** The metadata of a resource (RFC 9728 section 2). */
  const describeResource = (path: string) => {
    const scopes = listScopes(issuers, path);
    return {
      resource: path === '' ? publicUrl : origin + prefix + path,
      authorization_servers: issuers.map(({ url }) => url),
      bearer_methods_supported: ['header'],
      resource_name: 'erp-proxy',
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    };
  };

  return {
    describeChallenge(path) {
      paths.add(path);
      // RFC 9728 section 3.1: the path of the resource is appended to the well-known path.
      return `Bearer resource_metadata="${origin}${WELL_KNOWN}${prefix}${path}"`;
    },
    addRoutes(app) {
      // Served with and without the prefix, because a reverse proxy in front may remove or keep it.
      for (const at of new Set([prefix, ''])) {
        for (const path of paths) addRoute(app, WELL_KNOWN + at + path, describeResource(path));
      }
    },
  };
}

function listScopes(issuers: readonly TokenIssuer[], path: string): string[] {
  return [...new Set(issuers.flatMap(({ scopes }) => scopes(path)))];
}

/**
 * Adds metadata, which web pages read before they have a token. Some send `mcp-protocol-version`, which needs a
 * preflight.
 */
function addRoute(app: FastifyInstance, path: string, metadata: object): void {
  const body = Buffer.from(JSON.stringify(metadata));
  app.get(path, (_request, reply) =>
    reply
      .headers({
        'content-type': 'application/json',
        'cache-control': 'max-age=3600',
        'access-control-allow-origin': '*',
      })
      .send(body),
  );
  app.options(path, (_request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': '*, authorization',
        'access-control-max-age': '86400',
      })
      .send(),
  );
}

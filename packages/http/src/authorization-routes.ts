/**
 * The routes of the authorization server, and the pages on which persons sign in for an application. Adapts requests
 * and answers, and knows neither the protocol nor the pages.
 */
import { AdminError, createAdminError, toAdminError } from '@erp-proxy/admin/errors';
import {
  type Authorization,
  METADATA_PATH,
  PATHS,
  UNAVAILABLE_RETRY_SECONDS,
} from '@erp-proxy/authorization/terms';
import { Denial } from '@erp-proxy/gateway/terms';
import type { Events } from '@erp-proxy/observe/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Authenticator, requireOwnPage } from './admin/authenticate.ts';
import { readRequestId } from './forwarded.ts';
import { readNodeBody } from './node-body.ts';

export interface AuthorizationRoutesDeps {
  /** Null: nobody can sign in for an application, and there are no routes. */
  authorization: Authorization | null;
  authenticator: Pick<Authenticator, 'provider'>;
  /** Address under which browsers reach the proxy. */
  publicUrl: string | null;
  events: Pick<Events, 'faultSeen'>;
}

const BODY_BYTES_MAX = 16 * 1024;
const ANY_ORIGIN = { 'access-control-allow-origin': '*' };
const NO_STORE = { 'cache-control': 'no-store' };
const PAGE = `${PATHS.pages}/:id`;

export function addAuthorizationRoutes(app: FastifyInstance, deps: AuthorizationRoutesDeps): void {
  const { authorization, authenticator, publicUrl, events } = deps;
  if (authorization === null || publicUrl === null) return;
  const { pathname } = new URL(publicUrl);
  const prefix = pathname.replace(/\/$/, '');
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => answerError(error, request, reply, events));

    const serve = async ({ raw, ip }: FastifyRequest, reply: FastifyReply) => {
      await authorization.serve(raw, reply.raw, ip);
      // It rejects before it has sent anything, and the error is then answered as that of other routes.
      reply.hijack();
    };
    const routed = [
      ['GET', PATHS.authorize],
      ['GET', `${PATHS.authorize}/:id`],
      ['POST', PATHS.token],
      ['OPTIONS', PATHS.token],
      ['POST', PATHS.revoke],
      ['OPTIONS', PATHS.revoke],
    ] as const;
    for (const [method, url] of routed) scope.route({ method, url, exposeHeadRoute: false, handler: serve });

    // RFC 8414 section 3.1: the path of the issuer is appended to the well-known path.
    for (const at of new Set([prefix, ''])) {
      scope.get(METADATA_PATH + at, (_request, reply) =>
        reply.headers({ ...ANY_ORIGIN, 'cache-control': 'max-age=3600' }).send(authorization.metadata),
      );
      addPreflight(scope, METADATA_PATH + at, 'GET');
    }
    scope.get(PATHS.keys, async (_request, reply) =>
      reply
        .headers({ ...ANY_ORIGIN, 'cache-control': 'max-age=300' })
        .send(await authorization.publishKeys()),
    );
    addPreflight(scope, PATHS.register, 'POST');
    scope.post(PATHS.register, async (request, reply) => {
      const bytes = await readBody(request, reply, 'json');
      const { status, body } = await authorization.register(parseJson(bytes), request.ip);
      return reply
        .code(status)
        .headers({ ...ANY_ORIGIN, ...NO_STORE })
        .send(body);
    });

    scope.get<{ Querystring: { problem?: string } }>(
      PAGE,
      { exposeHeadRoute: false },
      async (request, reply) => {
        const given = { address: request.ip, problem: request.query.problem };
        const { status, headers, body } = await authorization.showPage(request.raw, reply.raw, given);
        return reply.code(status).headers(headers).send(body);
      },
    );
    scope.get(`${PAGE}/start`, { exposeHeadRoute: false }, async (request, reply) => {
      const application = await authorization.findSignIn(request.raw, reply.raw, request.ip);
      if (application === null) return reply.headers(NO_STORE).redirect(pageOf(request, publicUrl), 303);
      await authenticator.provider.start({ returnTo: undefined, program: null, application }, reply);
      return reply;
    });
    scope.post(PAGE, async (request, reply) => {
      requireOwnPage(request);
      const form = Object.fromEntries(
        new URLSearchParams(Buffer.from(await readBody(request, reply, 'bytes')).toString()),
      );
      const sender = { address: request.ip, requestId: readRequestId(request.headers) };
      const { status, headers, body } = await authorization.takeForm(request.raw, reply.raw, form, sender);
      return reply.code(status).headers(headers).send(body);
    });
  });
}

/** The page of the sign-in in the path. */
function pageOf({ params }: FastifyRequest, publicUrl: string): string {
  const { id } = params as { id: string };
  return `${publicUrl.replace(/\/$/, '')}${PATHS.pages}/${encodeURIComponent(id)}`;
}

async function readBody(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: 'json' | 'bytes',
): Promise<Uint8Array> {
  const body = await readNodeBody(request.raw, reply.raw, {
    bytesMax: BODY_BYTES_MAX,
    takeRoom: async () => true,
    signal: new AbortController().signal,
    kind,
  });
  if (!(body instanceof Denial)) return body;
  throw createAdminError(body.type === 'payload_too_large' ? 413 : 400, body.message);
}

/** Undefined for anything but JSON. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

function addPreflight(scope: FastifyInstance, path: string, method: string): void {
  scope.options(path, (_request, reply) =>
    reply
      .code(204)
      .headers({
        ...ANY_ORIGIN,
        'access-control-allow-methods': method,
        'access-control-allow-headers': '*, authorization',
        'access-control-max-age': '86400',
      })
      .send(),
  );
}

/** In the form of an error of OAuth, which programs show. */
function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  events: AuthorizationRoutesDeps['events'],
): FastifyReply {
  const known = toAdminError(error);
  const problem = known instanceof AdminError ? known.problem : null;
  if (problem === null || problem.status >= 500) events.faultSeen(readRequestId(request.headers), error);
  const status = problem?.status ?? 500;
  const isClientFault = status < 500;
  return reply
    .code(status)
    .headers({ ...NO_STORE, ...(status === 503 ? { 'retry-after': String(UNAVAILABLE_RETRY_SECONDS) } : {}) })
    .send({
      error: isClientFault ? 'invalid_request' : status === 503 ? 'temporarily_unavailable' : 'server_error',
      error_description: problem?.detail ?? 'The proxy failed; its log has the cause.',
    });
}

/**
 * The HTTP server: Fastify with our routes, limits against slow and broken clients, and JSON-RPC errors for requests
 * that no route takes. Knows no step of a call.
 */
import fastify, { type FastifyInstance } from 'fastify';
import { buildErrorAnswer, describeDenial, NULL_ID } from '../execute/request/envelope.ts';
import { Denial } from '../execute/terms/denial.ts';
import { OWN_DIALECT } from '../execute/terms/dialect.ts';
import { type AdminRoutesDeps, addAdminRoutes, answerUnreadablePath, isAdminPath } from './admin/routes.ts';
import { handleBrokenRequest } from './broken-request.ts';
import { addCompatibleRoutes } from './compatible-routes.ts';
import { addExecuteRoute, type ExecuteRouteDeps } from './execute-route.ts';
import { addHealthRoutes, type HealthRouteDeps } from './health-route.ts';
import { addMetricsRoute, type MetricsRouteDeps } from './metrics-route.ts';
import { addOpenapiRoute } from './openapi/openapi.ts';
import { readRequestId } from './request-id.ts';
import { ConnectionListener } from './shedding/connection-listener.ts';
import type { LoadShedder } from './shedding/load-shedder.ts';
import { addVersionRoute } from './version-route.ts';

export interface ServerDeps extends Omit<ExecuteRouteDeps, 'doorway'>, HealthRouteDeps, MetricsRouteDeps {
  door: LoadShedder;
  http: {
    bodyBytesMax: number;
    /** Time for a client to send its whole request. */
    requestTimeoutMs: number;
    /** Addresses or CIDRs whose `x-forwarded-for` is believed. */
    trustProxy: readonly string[];
  };
  admin: AdminRoutesDeps;
  /** Of this program. */
  version: string;
}

/** How often Node looks for requests that take too long; its own default of 30 s would make the limits coarse. */
const CONNECTIONS_CHECK_MS = 1000;
/** Longer than the idle time of common load balancers (60 s), so that it is not us who closes under a request. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Builds the server; it listens when the caller says so. */
export function createServer(deps: ServerDeps): FastifyInstance {
  const { http } = deps;
  const app = fastify({
    logger: false,
    trustProxy: http.trustProxy.length === 0 ? false : [...http.trustProxy],
    requestTimeout: http.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      headersTimeout: Math.min(http.requestTimeoutMs, 60_000),
      // Node's own answer to it has no body.
      requireHostHeader: false,
    },
    // Calls that come while the server is closing get our own answer.
    return503OnClosing: false,
    clientErrorHandler: handleBrokenRequest,
    // A path that cannot be decoded; Fastify would answer in its own form.
    frameworkErrors: (_error, request, reply) =>
      isAdminPath(request.url)
        ? answerUnreadablePath(request, reply)
        : sendDenial(NO_ROUTE, readRequestId(request.headers), reply as Reply),
    exposeHeadRoutes: true,
  });
  // The pipeline reads the body itself, after it has judged the key.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  app.addHook('onRequest', (request, reply, done) => {
    const { headers, httpVersion } = request.raw;
    if (headers.host !== undefined || httpVersion === '1.0') done();
    else sendDenial(NO_HOST, readRequestId(headers), reply);
  });
  // The routes say themselves whether they want the body that is announced; other expectations may be passed over
  // (RFC 9110 section 10.1.1).
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response));
  }

  // Only calls are refused at it: operators must see in, however little time the process has.
  const doorway = new ConnectionListener(app.server, {
    door: deps.door,
    silentMs: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeoutMs: http.requestTimeoutMs,
  });
  app.addHook('preClose', (done) => {
    doorway.stop();
    done();
  });
  const callDeps = { ...deps, doorway };
  addExecuteRoute(app, callDeps);
  addVersionRoute(app, callDeps);
  addCompatibleRoutes(app, callDeps);
  addHealthRoutes(app, deps);
  addMetricsRoute(app, '/metrics', deps);
  addAdminRoutes(app, deps.admin);
  addOpenapiRoute(app, deps.version);

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string;
    // What a route's own path is written with is no path: the router would throw.
    const allowed = /[*:()]/.test(path)
      ? []
      : METHODS.filter((method) => app.hasRoute({ method, url: path }));
    const denial =
      allowed.length === 0
        ? NO_ROUTE
        : new Denial('method_not_allowed', `This route takes ${allowed.join(' or ')} only.`, {
            headers: { allow: allowed.join(', ') },
          });
    return sendDenial(denial, readRequestId(request.headers), reply);
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const requestId = readRequestId(request.headers);
    if (error.statusCode === 415) {
      return sendDenial(
        new Denial('unsupported_media_type', 'Send `content-type: application/json`, in UTF-8.'),
        requestId,
        reply,
      );
    }
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return sendDenial(
        new Denial('invalid_request', 'The request is not HTTP that this route can take.'),
        requestId,
        reply,
      );
    }
    deps.events.faultSeen(requestId, error);
    return sendDenial(
      new Denial('internal', 'The proxy failed; tell its operator the x-request-id.'),
      requestId,
      reply,
    );
  });
  return app;
}

const METHODS = ['GET', 'HEAD', 'POST'] as const;

const NO_HOST = new Denial('invalid_request', 'The request has no `host` header (RFC 9112 section 3.2).', {
  headers: { connection: 'close' },
});

const NO_ROUTE = new Denial('route_not_found', 'There is no such route; calls go to POST /api/erp/execute.');

interface Reply {
  code(status: number): Reply;
  headers(headers: Record<string, string>): Reply;
  send(body: Buffer): unknown;
}

function sendDenial(denial: Denial, requestId: string, reply: Reply): unknown {
  const { httpStatus, error } = describeDenial(denial, OWN_DIALECT);
  return reply
    .code(httpStatus)
    .headers({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...denial.more.headers,
    })
    .send(buildErrorAnswer(NULL_ID, error));
}

/**
 * The HTTP server: Fastify with the routes of the proxy, time limits for slow clients, and JSON-RPC errors for requests
 * that match no route. Knows no steps of a call.
 */

import type { Authorization } from '@erp-proxy/authorization/terms';
import { type Admission, buildErrorAnswer, describeDenial } from '@erp-proxy/gateway/request';
import { Denial, NULL_ID, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { Events } from '@erp-proxy/observe/events';
import { ConnectionListener } from '@erp-proxy/wire/server';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { createAuthenticator } from './admin/authenticate.ts';
import type { ExecuteDeps } from './admin/execute.ts';
import { addMeRoutes, type MeRoutesDeps } from './admin/me-routes.ts';
import { answerUnreadablePath } from './admin/problems.ts';
import { type AdminRoutesDeps, addAdminRoutes, isAdminPath } from './admin/routes.ts';
import { addAuthorizationRoutes } from './authorization-routes.ts';
import { BodyBudget, BodyCollector } from './body.ts';
import { closeAfterFaultyFraming, handleBrokenRequest } from './broken-request.ts';
import { addCallRoutes, type CallRoutesDeps, chooseScope } from './call-routes.ts';
import { addCompatiblePages } from './compatible-pages.ts';
import { addConsoleRoutes, type ConsoleRoutesDeps } from './console/console-routes.ts';
import { createAddressFinder, dropForwardedPorts, readRequestId } from './forwarded.ts';
import { addHealthRoutes, type HealthRouteDeps } from './health-route.ts';
import { addJobRoutes, type JobRoutesDeps } from './job-routes.ts';
import { addMetricsRoute, type MetricsRouteDeps } from './metrics-route.ts';
import { addMultiCallRoutes, type MultiCallServices } from './multi-call-routes.ts';
import { addOpenapiRoute } from './openapi/openapi.ts';
import { addPageRoutes } from './pages/page-routes.ts';
import { createProtectedResource, type TokenIssuer } from './protected-resource.ts';
import { addReferenceRoutes } from './reference/reference-route.ts';
import type { LoadShedder } from './shedding/load-shedder.ts';

export interface ServerDeps
  extends Omit<CallRoutesDeps, 'connectionListener' | 'protectedResource' | 'bodyBudget' | 'findAddress'>,
    HealthRouteDeps,
    MetricsRouteDeps {
  admission: Pick<Admission, 'onStopping'>;
  events: Pick<Events, 'faultSeen'>;
  loadShedder: LoadShedder;
  http: {
    bodyBytesMax: number;
    /** Maximum bytes of all large bodies in memory at a time. */
    bodiesBytesMax: number;
    /** Time for a client to send its whole request. */
    requestTimeoutMs: number;
    /** Addresses or CIDRs whose `x-forwarded-for` is trusted. */
    trustProxy: readonly string[];
    /** Address under which callers reach the proxy. */
    publicUrl: string | null;
  };
  /** Issuers of accepted tokens. */
  issuers: readonly { url: string; scopes: readonly string[] }[];
  /** The proxy as an authorization server; null: it is none. */
  authorization: Authorization | null;
  admin: Omit<
    AdminRoutesDeps,
    'applications' | 'authenticator' | 'execute' | 'isHostShared' | 'publicUrl'
  > & {
    keys: ExecuteDeps['keys'];
  };
  ownOf: MeRoutesDeps['ownOf'];
  console: Omit<ConsoleRoutesDeps, 'isBelowPath'>;
  /** The services of the routes that make calls while they answer. */
  multiCallServices: MultiCallServices;
  jobs: JobRoutesDeps['jobs'];
  /** Version of this program. */
  version: string;
}

/** Maximum time for the head of a request. */
const HEAD_TIMEOUT_MS_MAX = 60_000;
/**
 * Interval at which Node checks for requests that take too long, as a share of the shorter limit. Node's default of 30
 * s would make the limits coarse, and a short interval would wake an idle process.
 */
const CHECK_SHARE = 0.1;
const CHECK_MS_MIN = 1000;
/**
 * Longer than the idle time of common load balancers (60 s): if the proxy closed a connection first, a request could
 * meet a closed one.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/**
 * No route has a schema of Fastify: zod checks the input of the admin API. Without these functions, Fastify loads its
 * validator and its serializer at each start.
 */
const NO_COMPILERS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('No route may have a schema of Fastify; check its input with zod.');
}

/** Builds the server, which does not listen yet. */
export function createServer(deps: ServerDeps): FastifyInstance {
  const { http } = deps;
  const headersTimeout = Math.min(http.requestTimeoutMs, HEAD_TIMEOUT_MS_MAX);
  const app = fastify({
    logger: false,
    trustProxy: http.trustProxy.length === 0 ? false : [...http.trustProxy],
    requestTimeout: http.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      connectionsCheckingInterval: Math.max(CHECK_MS_MIN, Math.ceil(headersTimeout * CHECK_SHARE)),
      headersTimeout,
      // Node's own error for this has no body; a hook below sends the proxy's error.
      requireHostHeader: false,
    },
    // Calls that arrive while the server closes get the proxy's own answer.
    return503OnClosing: false,
    clientErrorHandler: handleBrokenRequest,
    // If a path cannot be decoded, Fastify would send an error in its own format.
    frameworkErrors: (_error, request, reply) =>
      isAdminPath(request.url)
        ? answerUnreadablePath(request, reply)
        : sendDenial(NO_ROUTE, readRequestId(request.headers), reply as Reply),
    exposeHeadRoutes: true,
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  // Removed, because the pipeline reads the body itself after it has checked the key.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  closeAfterFaultyFraming(app);
  dropForwardedPorts(app);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, headersDistinct, httpVersion } = request.raw;
    const hosts = headersDistinct['host']?.length ?? 0;
    if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) done();
    else sendDenial(NOT_ONE_HOST, readRequestId(headers), reply);
  });
  // Each route decides itself whether it wants the announced body. Other expectations may be ignored (RFC 9110 section
  // 10.1.1).
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response));
  }

  // Other routes are not shed, because operators need them while the process is overloaded.
  const bodyBudget = new BodyBudget(Math.max(http.bodiesBytesMax, http.bodyBytesMax));
  const connectionListener = new ConnectionListener(app.server, {
    admission: deps.loadShedder,
    collectBody: (bytes) => new BodyCollector(bytes),
    idleTimeoutMs: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeoutMs: http.requestTimeoutMs,
  });
  deps.admission.onStopping(() => connectionListener.drain());
  app.addHook('preClose', (done) => {
    deps.loadShedder.admitAll();
    connectionListener.stop();
    done();
  });
  const protectedResource = createProtectedResource(http.publicUrl, listIssuers(deps));
  const findAddress = createAddressFinder(http.trustProxy);
  const callRoutes = { ...deps, bodyBudget, connectionListener, findAddress, protectedResource };
  addCallRoutes(app, callRoutes);
  addMultiCallRoutes(app, callRoutes);
  addJobRoutes(app, callRoutes);
  protectedResource.addRoutes(app);
  addCompatiblePages(app, deps);
  addHealthRoutes(app, deps);
  addMetricsRoute(app, '/metrics', deps);
  const execute = { keys: deps.admin.keys, run: deps.run };
  const isBelowPath = http.publicUrl !== null && new URL(http.publicUrl).pathname !== '/';
  const { authorization } = deps;
  const admin = {
    ...deps.admin,
    isHostShared: isBelowPath,
    publicUrl: http.publicUrl,
    applications: authorization,
  };
  const authenticator = createAuthenticator(admin);
  addAdminRoutes(app, { ...admin, authenticator, execute });
  addMeRoutes(app, { authenticator, events: admin.events, ownOf: deps.ownOf });
  addAuthorizationRoutes(app, {
    authorization,
    authenticator,
    publicUrl: http.publicUrl,
    events: deps.events,
  });
  addOpenapiRoute(app, { ...deps, publicUrl: http.publicUrl });
  addReferenceRoutes(app);
  addPageRoutes(app, { version: deps.version, publicUrl: http.publicUrl });
  addConsoleRoutes(app, { ...deps.console, isBelowPath });

  app.setNotFoundHandler((request, reply) => answerMissingRoute(app, request, reply));
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const requestId = readRequestId(request.headers);
    const denial = explainError(error);
    if (denial === FAILED) deps.events.faultSeen(requestId, error);
    return sendDenial(denial, requestId, reply);
  });
  return app;
}

/** The proxy itself comes first: clients take the first issuer that they can use. */
function listIssuers({ issuers, authorization, http }: ServerDeps): TokenIssuer[] {
  const own =
    authorization === null
      ? []
      : [
          {
            url: http.publicUrl!.replace(/\/$/, ''),
            scopes: (path: string) => (path === '' ? ['mcp', 'erp'] : [chooseScope(path)]),
          },
        ];
  return [...own, ...issuers.map(({ url, scopes }) => ({ url, scopes: () => scopes }))];
}

const METHODS = ['GET', 'HEAD', 'POST'] as const;

const NOT_ONE_HOST = new Denial(
  'invalid_request',
  'A request needs exactly one `host` header (RFC 9112 section 3.2).',
  { headers: { connection: 'close' } },
);

const NO_ROUTE = new Denial('route_not_found', 'There is no such route; calls go to POST /api/erp/execute.');

const FAILED = new Denial('internal', 'The proxy failed; tell its operator the x-request-id.');

function answerMissingRoute(app: FastifyInstance, { url, headers }: FastifyRequest, reply: Reply): unknown {
  const path = url.split('?', 1)[0] as string;
  // `hasRoute` would throw for a path with characters of the router's pattern syntax.
  const allowed = /[*:()]/.test(path) ? [] : METHODS.filter((method) => app.hasRoute({ method, url: path }));
  const denial =
    allowed.length === 0
      ? NO_ROUTE
      : new Denial('method_not_allowed', `This route takes ${allowed.join(' or ')} only.`, {
          headers: { allow: allowed.join(', ') },
        });
  return sendDenial(denial, readRequestId(headers), reply);
}

/** The denial for an error that Fastify has caught. */
function explainError({ statusCode }: { statusCode?: number }): Denial {
  if (statusCode === 415)
    return new Denial('unsupported_media_type', 'Send `content-type: application/json`, in UTF-8.');
  if (statusCode !== undefined && statusCode < 500)
    return new Denial('invalid_request', 'The request is not HTTP that this route can take.');
  return FAILED;
}

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

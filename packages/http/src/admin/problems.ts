/** What the routes of `/admin/v1` and `/me` share: every error is a problem (RFC 9457), and no answer may be cached. */

import { AdminError, describeProblem } from '@erp-proxy/admin/errors';
import type { Problem } from '@erp-proxy/contract';
import type { Events } from '@erp-proxy/observe/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readRequestId } from '../forwarded.ts';
import { sendProblem } from '../problem.ts';

export interface ProblemDeps {
  events: Pick<Events, 'faultSeen'>;
}

/** The routes below a path. `offReason`: why there are none; null: there are. */
export interface ServedRoutes {
  path: string;
  routes: readonly { method: string; path: string }[];
  offReason: string | null;
}

/** The body is read only after its sender was authenticated. */
export function addProblemHandlers(scope: FastifyInstance, served: ServedRoutes, deps: ProblemDeps): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-request-id': readRequestId(request.headers) });
  });
  scope.setErrorHandler((error, _request, reply) => answerError(error, reply, deps));
  scope.setNotFoundHandler((request, reply) => sendProblem(reply, describeMissing(request, reply, served)));
}

/** Answers for a path that Fastify cannot decode: it has an invalid escape, or is too long. */
export function answerUnreadablePath(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('x-request-id', readRequestId(request.headers));
  return sendProblem(reply, describeProblem(404, NO_ROUTE));
}

export function readId(reply: FastifyReply): string {
  return String(reply.getHeader('x-request-id'));
}

const NO_ROUTE = 'There is no such route; see /openapi.json.';

/** Describes a 405 with the methods of the path, or a 404. */
function describeMissing(
  request: FastifyRequest,
  reply: FastifyReply,
  { path: prefix, routes, offReason }: ServedRoutes,
): Problem {
  if (offReason !== null) return describeProblem(404, offReason);
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = routes
    .filter((route) => toPattern(prefix, route.path).test(path))
    .map(({ method }) => method);
  if (methods.length === 0) return describeProblem(404, NO_ROUTE);
  const allowed = methods.includes('GET')
    ? ['GET', 'HEAD', ...methods.filter((it) => it !== 'GET')]
    : methods;
  reply.header('allow', allowed.join(', '));
  return describeProblem(405, `This route takes ${allowed.join(' or ')} only.`);
}

function toPattern(prefix: string, path: string): RegExp {
  return new RegExp(`^${prefix}${path.replaceAll(/:\w+/g, '[^/]+')}$`);
}

function answerError(error: unknown, reply: FastifyReply, { events }: ProblemDeps): FastifyReply {
  if (error instanceof AdminError) {
    if (error.cause !== undefined) events.faultSeen(readId(reply), error.cause);
    if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
    return sendProblem(reply, error.problem);
  }
  events.faultSeen(readId(reply), error);
  return sendProblem(
    reply,
    describeProblem(500, 'The proxy failed; its log has the cause under the x-request-id.'),
  );
}

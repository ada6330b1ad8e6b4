/**
 * Serves `/admin/v1` from the table of its routes (table.ts). Every error below this path is a problem (RFC 9457), and
 * no answer may be cached. Calls the admin service, and knows no operation of it.
 */
import {
  includesRole,
  type Problem,
  printVersionTag,
  tagVersion,
  type VersionTag,
} from '@erp-proxy/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actor, Admin, Identity } from '../../admin/admin.ts';
import { AdminError, createAdminError, describeProblem } from '../../admin/admin-error.ts';
import { refuseWhole } from '../../admin/limit-deps.ts';
import { NOBODY } from '../../audit/actors.ts';
import type { Events } from '../../observe/events.ts';
import { hasTag } from '../etag.ts';
import { readRequestId } from '../forwarded.ts';
import { sendProblem } from '../problem.ts';
import { type AuthenticateOptions, type Authenticator, createAuthenticator } from './authenticate.ts';
import { createExecute, type Execute, type ExecuteDeps } from './execute.ts';
import { readAdminBody, readIfMatch, readInput } from './input.ts';
import { ADMIN_PATH, ADMIN_ROUTES, type AdminRoute, needsBody } from './table.ts';

/** Without `token` and `operators`, the admin API is off. */
export interface AdminRoutesDeps extends AuthenticateOptions {
  adminFor: (actor: Actor) => Admin;
  events: Pick<Events, 'faultSeen'>;
  /** Dependencies of the calls that administrators make. */
  execute: ExecuteDeps;
}

export function addAdminRoutes(app: FastifyInstance, deps: AdminRoutesDeps): void {
  void app.register(async (scope) => addRoutes(scope, deps), { prefix: ADMIN_PATH });
}

/** Answers for an admin path that Fastify cannot decode: it has an invalid escape, or is too long. */
export function answerUnreadablePath(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('x-request-id', readRequestId(request.headers));
  return sendProblem(reply, describeProblem(404, NO_ROUTE));
}

export function isAdminPath(url: string): boolean {
  return UNDER_ADMIN_PATH.test(url);
}

const UNDER_ADMIN_PATH = new RegExp(`^${ADMIN_PATH}(?![^/?])`);

const NO_ROUTE = 'There is no such route; see /openapi.json.';

function addRoutes(scope: FastifyInstance, deps: AdminRoutesDeps): void {
  const isOff = deps.token === null && deps.operators === null;
  // The body is read only after its sender was authenticated.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-request-id': readRequestId(request.headers) });
  });
  scope.setErrorHandler((error, _request, reply) => answerError(error, reply, deps));
  scope.setNotFoundHandler((request, reply) => sendProblem(reply, describeMissing(request, reply, isOff)));
  if (isOff) return;
  const authenticator = createAuthenticator(deps);
  const execute = createExecute(deps.execute);
  for (const route of ADMIN_ROUTES) {
    scope.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => answer(route, request, reply, { authenticator, execute }, deps),
    });
  }
}

async function answer(
  route: AdminRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticator, execute }: { authenticator: Authenticator; execute: Execute },
  deps: AdminRoutesDeps,
): Promise<FastifyReply> {
  const identity = route.isOpen ? null : await authenticator.identify(request, reply);
  if (identity !== null) requireRights(route, identity, request, authenticator);
  const actor = { ...(identity ?? OUTSIDER), address: request.ip, requestId: readId(reply) };
  const tag = readTag(route, request);
  const params = route.params ? Object.values(readInput(route.params, request.params)) : [];
  const query = readInput(route.query ?? NOTHING, request.query);
  const body = await readBody(route, request, reply);
  const admin = deps.adminFor(actor);
  const shown = await route.handle({
    admin,
    body,
    given: [
      ...params,
      ...(route.query ? [query] : []),
      ...(route.body ? [body] : []),
      ...(route.takesVersion ? [tag] : []),
    ],
    identity,
    authenticator,
    execute: (input) => execute(input, { actor, admin, request, reply }),
    request,
    reply,
  });
  if (reply.sent) return reply;
  reply.code(route.answer.status);
  if (route.answer.hasEtag) {
    const etag = printVersionTag(tagVersion(VERSIONED.parse(shown)));
    reply.header('etag', etag);
    if (route.method === 'GET' && hasTag(request.headers['if-none-match'], etag))
      return reply.code(304).send();
  }
  return reply.send(shown);
}

/** Who uses an open route. */
const OUTSIDER: Identity = { ...NOBODY, role: 'viewer', instances: [] };

/** The only place where roles are checked: commands on the machine of the store have all rights. */
function requireRights(
  { id, role, reach }: AdminRoute,
  held: Identity,
  request: FastifyRequest,
  authenticator: Authenticator,
): void {
  const hasRole = includesRole(held.role, role);
  if (hasRole && (reach === undefined || held.instances === null)) return;
  authenticator.recordRefused(held, id, request);
  if (hasRole) throw refuseWhole({ text: (held.instances ?? []).join(', ') });
  throw createAdminError(403, `This needs the role \`${role}\`; you have the role \`${held.role}\`.`);
}

const NOTHING = z.strictObject({});
const VERSIONED = z.object({ version: z.int(), created_at: z.string() });

function readTag({ method, takesVersion }: AdminRoute, { headers }: FastifyRequest): VersionTag | undefined {
  const { 'if-match': given } = headers;
  if (takesVersion) return readIfMatch(given);
  if (given === undefined || method === 'GET') return undefined;
  throw createAdminError(400, 'This route takes no `if-match`: it applies to any version.');
}

async function readBody(route: AdminRoute, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const given = await readAdminBody(request, reply, route);
  // An empty object is the same as no body, because some HTTP clients always send one.
  const said = given === undefined ? {} : given;
  if (route.body) return readInput(route.body, needsBody(route) ? given : said);
  if (NOTHING.safeParse(said).success) return undefined;
  throw createAdminError(400, 'This route takes no body.');
}

/** Describes a 405 with the methods of the path, or a 404. */
function describeMissing(request: FastifyRequest, reply: FastifyReply, isOff: boolean): Problem {
  if (isOff) return describeProblem(404, 'The admin API is off: the setting admin.token is empty.');
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = ADMIN_ROUTES.filter((route) => toPattern(route.path).test(path)).map(
    ({ method }) => method,
  );
  if (methods.length === 0) return describeProblem(404, NO_ROUTE);
  const allowed = methods.includes('GET')
    ? ['GET', 'HEAD', ...methods.filter((it) => it !== 'GET')]
    : methods;
  reply.header('allow', allowed.join(', '));
  return describeProblem(405, `This route takes ${allowed.join(' or ')} only.`);
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${ADMIN_PATH}${path.replaceAll(/:\w+/g, '[^/]+')}$`);
}

function answerError(error: unknown, reply: FastifyReply, { events }: AdminRoutesDeps): FastifyReply {
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

function readId(reply: FastifyReply): string {
  return String(reply.getHeader('x-request-id'));
}

/**
 * Serves `/admin/v1` from the table of its routes (table.ts). Every error below this path is a problem (RFC 9457), and
 * no answer may be cached. Calls the admin service, and knows no operation of it.
 */

import { type Actor, type Admin, type Identity, refuseWhole } from '@erp-proxy/admin';
import { createAdminError } from '@erp-proxy/admin/errors';
import { includesRole, printVersionTag, tagVersion, type VersionTag } from '@erp-proxy/contract';
import { NOBODY } from '@erp-proxy/control/audit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { hasTag } from '../etag.ts';
import type { AuthenticateOptions, Authenticator } from './authenticate.ts';
import { createExecute, type Execute, type ExecuteDeps } from './execute.ts';
import { readAdminBody, readIfMatch, readInput } from './input.ts';
import { addProblemHandlers, type ProblemDeps, readId } from './problems.ts';
import { ADMIN_PATH, ADMIN_ROUTES, type AdminRoute, needsBody } from './table.ts';

/** Without `token` and `operators`, the admin API is off. */
export interface AdminRoutesDeps extends AuthenticateOptions, ProblemDeps {
  authenticator: Authenticator;
  adminFor: (actor: Actor) => Admin;
  /** Dependencies of the calls that administrators make. */
  execute: ExecuteDeps;
}

export function addAdminRoutes(app: FastifyInstance, deps: AdminRoutesDeps): void {
  void app.register(async (scope) => addRoutes(scope, deps), { prefix: ADMIN_PATH });
}

export function isAdminPath(url: string): boolean {
  return UNDER_ADMIN_PATH.test(url);
}

const UNDER_ADMIN_PATH = new RegExp(`^${ADMIN_PATH}(?![^/?])`);

function addRoutes(scope: FastifyInstance, deps: AdminRoutesDeps): void {
  const isOff = deps.readToken() === null && deps.operators === null;
  const offReason = isOff ? OFF : null;
  addProblemHandlers(scope, { path: ADMIN_PATH, routes: ADMIN_ROUTES, offReason }, deps);
  if (isOff) return;
  const { authenticator } = deps;
  const execute = createExecute(deps.execute);
  for (const route of ADMIN_ROUTES) {
    scope.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => answer(route, request, reply, { authenticator, execute }, deps),
    });
  }
}

const OFF = 'The admin API is off: the setting admin.token is empty.';

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
    execute: (input, other) => execute(input, { actor, admin, request, reply }, other),
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

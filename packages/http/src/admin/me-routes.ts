/**
 * Serves `/me` from the table of its routes (me-table.ts), for persons: signed in by the identity provider, or with one
 * of its tokens. A person reaches what is their own: the routes take no id of another person.
 */

import type { AuditedActor } from '@erp-proxy/admin';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Authenticator } from './authenticate.ts';
import { readAdminBody, readInput } from './input.ts';
import { ME_PATH, ME_ROUTES, type MeRoute, type OwnOperations } from './me-table.ts';
import { addProblemHandlers, type ProblemDeps, readId } from './problems.ts';

export interface MeRoutesDeps extends ProblemDeps {
  /** That of the admin routes. */
  authenticator: Authenticator;
  ownOf: (person: AuditedActor) => OwnOperations;
}

export function addMeRoutes(app: FastifyInstance, deps: MeRoutesDeps): void {
  void app.register(
    async (scope) => {
      addProblemHandlers(scope, { path: ME_PATH, routes: ME_ROUTES, offReason: null }, deps);
      for (const route of ME_ROUTES) {
        scope.route({
          method: route.method,
          url: route.path,
          handler: (request, reply) => answer(route, request, reply, deps),
        });
      }
    },
    { prefix: ME_PATH },
  );
}

async function answer(
  route: MeRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticator, ownOf }: MeRoutesDeps,
): Promise<FastifyReply> {
  const person = await authenticator.identifyPerson(request, reply);
  const [name = ''] = route.params ? Object.values(readInput(route.params, request.params)) : [];
  readInput(NOTHING, request.query);
  const given = await readAdminBody(request, reply, {});
  const body = readInput<unknown>(route.body ?? NOTHING, given === undefined && !route.body ? {} : given);
  const own = ownOf({ ...person, address: request.ip, requestId: readId(reply) });
  const shown = await route.handle(own, String(name), body);
  return reply.code(route.answer.status).send(shown);
}

const NOTHING = z.strictObject({});

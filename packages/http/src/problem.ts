/** Sends errors of the admin API as problem details (RFC 9457). */
import type { Problem } from '@erp-proxy/contract';
import type { FastifyReply } from 'fastify';

export const PROBLEM_TYPE = 'application/problem+json';

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="erp-proxy admin"');
  return reply
    .code(problem.status)
    .headers({ 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store' })
    .send(JSON.stringify(problem));
}

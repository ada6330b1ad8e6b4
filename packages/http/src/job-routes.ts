/**
 * The routes of jobs: a client asks for the state of its job, cancels it and takes its result. They pass the pipeline
 * for the key, and do not count for its limits: a client whose job runs must be able to ask for it.
 */

import { JOBS_PATH } from '@erp-proxy/contract';
import type { JobRequests } from '@erp-proxy/data/jobs';
import { type CallRunner, type Denial, type Dialect, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addPreflight } from './answer-writer.ts';
import type { CallRoutesDeps } from './call-routes.ts';
import { NodeExchange } from './node-exchange.ts';
import { OverloadAnswer } from './overload-answer.ts';
import { RoutedRequest } from './routed-request.ts';

export interface JobRoutesDeps extends CallRoutesDeps {
  jobs: JobRequests;
}

const JOB = `${JOBS_PATH}/:id`;

export function addJobRoutes(app: FastifyInstance, deps: JobRoutesDeps): void {
  const { run, loadShedder, http, bodyBudget, protectedResource, jobs } = deps;
  const dialect: Dialect = { ...OWN_DIALECT, challenge: protectedResource.describeChallenge(JOBS_PATH) };
  const overloadAnswer = new OverloadAnswer(dialect);

  function add(
    method: 'GET' | 'DELETE',
    path: string,
    answer: (runner: CallRunner, id: string) => Promise<Denial | null>,
  ): void {
    app.route<{ Params: { id: string } }>({
      method,
      url: path,
      exposeHeadRoute: false,
      handler({ raw: request, ip, params }: FastifyRequest<{ Params: { id: string } }>, reply) {
        reply.hijack();
        const response = reply.raw;
        const admit = () => {
          const exchange = new NodeExchange(request, response, {
            address: ip,
            bodyBytesMax: http.bodyBytesMax,
            bodyBudget,
          });
          void run({
            source: { by: 'session', via: 'job', values: 'unconverted', body: 'none', limits: 'none' },
            dialect,
            exchange,
            answer: (runner) => answer(runner, params.id),
          });
        };
        const refuse = () => overloadAnswer.send(request, response);
        loadShedder.submit(new RoutedRequest(response, { admit, refuse }));
      },
    });
  }

  add('GET', JOB, jobs.show);
  add('DELETE', JOB, jobs.cancel);
  add('GET', `${JOB}/result`, jobs.sendResult);
  addPreflight(app, JOB, 'GET, DELETE');
  addPreflight(app, `${JOB}/result`, 'GET');
}

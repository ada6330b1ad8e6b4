/** `POST /api/erp/execute`, and how any route hands its request to a pipeline. */
import { EXECUTE_PATH } from '@erp-proxy/contract';
import type { FastifyInstance } from 'fastify';
import { type ExecuteDeps, execute } from '../execute/execute-call.ts';
import { type Dialect, OWN_DIALECT } from '../execute/terms/dialect.ts';
import type { Exchange } from '../execute/terms/exchange.ts';
import { addPreflight } from './cors.ts';
import { HttpExchange } from './http-exchange.ts';
import type { ConnectionListener } from './shedding/connection-listener.ts';
import { Refusal } from './shedding/refuse.ts';

export interface ExecuteRouteDeps extends ExecuteDeps {
  http: { bodyBytesMax: number };
  doorway: ConnectionListener;
}

export function addExecuteRoute(app: FastifyInstance, deps: ExecuteRouteDeps): void {
  addPipelineRoute(app, EXECUTE_PATH, execute, OWN_DIALECT, deps);
}

/** `pipeline` answers the request, whatever becomes of it. */
export function addPipelineRoute(
  app: FastifyInstance,
  path: string,
  pipeline: (exchange: Exchange, deps: ExecuteRouteDeps, dialect: Dialect) => Promise<void>,
  dialect: Dialect,
  deps: ExecuteRouteDeps,
): void {
  addPreflight(app, path);
  const refusal = new Refusal(dialect);
  deps.doorway.guard(path, refusal);
  app.post(path, (request, reply) => {
    reply.hijack();
    deps.doorway.enter(request.raw, {
      get hasLeft() {
        return reply.raw.destroyed;
      },
      letIn() {
        const { bodyBytesMax } = deps.http;
        const exchange = new HttpExchange(request.raw, reply.raw, { address: request.ip, bodyBytesMax });
        void pipeline(exchange, deps, dialect);
      },
      refuse: () => refusal.answer(request.raw, reply.raw),
    });
  });
}

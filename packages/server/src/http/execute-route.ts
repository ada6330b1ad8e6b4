/** `POST /api/erp/execute`: hands the request to the pipeline. */
import { EXECUTE_PATH } from '@erp-proxy/contract';
import type { FastifyInstance } from 'fastify';
import { type ExecuteDeps, execute } from '../execute/pipeline.ts';
import { HttpExchange } from './http-exchange.ts';

export interface ExecuteRouteDeps extends ExecuteDeps {
  http: { bodyBytesMax: number };
}

export function addExecuteRoute(app: FastifyInstance, deps: ExecuteRouteDeps): void {
  app.post(EXECUTE_PATH, (request, reply) => {
    reply.hijack();
    const { bodyBytesMax } = deps.http;
    void execute(new HttpExchange(request.raw, reply.raw, { address: request.ip, bodyBytesMax }), deps);
  });
}

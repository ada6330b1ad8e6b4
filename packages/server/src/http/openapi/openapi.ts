/** The OpenAPI document of every route, made of what the routes themselves are made of. */
import type { FastifyInstance } from 'fastify';
import { renderNamedSchemas } from '../schema-registry.ts';
import { ADMIN_SECURITY, describeAdminPaths } from './admin.ts';
import { CALL_PATHS, CALL_SECURITY } from './calls.ts';

export function addOpenapiRoute(app: FastifyInstance, version: string): void {
  const document = Buffer.from(JSON.stringify(renderOpenapi(version)));
  app.get('/openapi.json', (_request, reply) =>
    reply.header('content-type', 'application/json').send(document),
  );
}

/** `version` is that of the program. */
export function renderOpenapi(version: string): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'erp-proxy',
      version,
      description: 'One HTTP endpoint in front of every Odoo server.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [
      { name: 'calls', description: 'Calls on Odoo servers.' },
      { name: 'admin', description: 'Client keys, stored instances and the audit.' },
      { name: 'process', description: 'The proxy as a process.' },
      { name: 'compatible', description: "For callers that speak ODXProxy's wire format." },
    ],
    paths: { ...CALL_PATHS, ...describeAdminPaths() },
    components: {
      schemas: renderNamedSchemas(),
      securitySchemes: { ...CALL_SECURITY, ...ADMIN_SECURITY },
    },
  };
}

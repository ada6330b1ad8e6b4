/** The OpenAPI document of all routes, generated from the tables of the routes. */
import type { FastifyInstance } from 'fastify';
import { renderNamedSchemas } from '../schema-registry.ts';
import { ADMIN_SECURITY, describeAdminPaths } from './admin.ts';
import { CALL_SECURITY, describeCallPaths } from './calls.ts';

export function addOpenapiRoute(app: FastifyInstance, version: string): void {
  const document = Buffer.from(JSON.stringify(renderOpenapi(version)));
  app.get('/openapi.json', (_request, reply) =>
    reply.header('content-type', 'application/json').send(document),
  );
}

/** `version` is the version of this program. */
export function renderOpenapi(version: string): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'erp-proxy',
      version,
      description: 'One HTTP endpoint in front of all Odoo servers.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the address of the document: the proxy does not know the names that it is reached by.
    servers: [{ url: '/', description: 'The proxy that serves this document.' }],
    tags: [
      { name: 'calls', description: 'Calls on Odoo servers.' },
      { name: 'admin', description: 'Client keys, stored instances and the audit.' },
      { name: 'process', description: 'Health, metrics and documentation of the proxy.' },
      { name: 'compatible', description: "For callers that use ODXProxy's wire format." },
    ],
    paths: { ...describeCallPaths(), ...describeAdminPaths() },
    components: {
      schemas: renderNamedSchemas(),
      securitySchemes: { ...CALL_SECURITY, ...ADMIN_SECURITY },
    },
  };
}

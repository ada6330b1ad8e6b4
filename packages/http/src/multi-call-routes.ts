/**
 * A table of the routes that make calls while they answer. Fastify's routes and their part of the OpenAPI document are
 * generated from it.
 */

import type { Mcp } from '@erp-proxy/agents';
import { DOCUMENT_PATH, EXPORT_PATH, FLEET_PATH } from '@erp-proxy/contract';
import type { Changes } from '@erp-proxy/data/changes';
import { sendDocument } from '@erp-proxy/data/documents';
import type { Exporter } from '@erp-proxy/data/export';
import { download, upload } from '@erp-proxy/data/files';
import type { Fleet } from '@erp-proxy/data/fleet';
import { type CallRunner, type Denial, type MadeCalls, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { addCallRoute, type CallRoutesDeps } from './call-routes.ts';
import {
  documentCall,
  EXPORT_EXAMPLE,
  exportAnswer,
  exportCall,
  FLEET_EXAMPLE,
  fleetAnswer,
  fleetCall,
} from './openapi/data-schemas.ts';

/** The services that answer the routes. */
export interface MultiCallServices {
  mcp: Mcp;
  changes: Changes;
  exporter: Exporter;
  fleet: Fleet;
}

/** A `POST` route. */
export interface MultiCallRoute extends MadeCalls {
  path: string;
  /** A second path of the route, which the OpenAPI document does not have. */
  alias?: string;
  /** Answers the request, or returns why it is refused as a whole. */
  serve(runner: CallRunner, services: MultiCallServices): Promise<Denial | null>;
  /** Name of the operation in generated clients. Like the members below, it is for the OpenAPI document. */
  id: string;
  summary: string;
  /** Schema of the body. Default: any object. */
  shape?: z.ZodType;
  /** An example of the body, or of the call in `x-erp-call` if the body is a file. */
  example: object;
  /** `schema` and `example` describe the first type. The default schema for JSON is any object. */
  answer: { description: string; types: readonly string[]; schema?: z.ZodType; example?: string };
  /** True if the header `prefer` has an effect. */
  takesPreferences?: true;
}

export const MULTI_CALL_ROUTES: readonly MultiCallRoute[] = [
  {
    path: '/mcp',
    alias: '/mcp/',
    via: 'mcp',
    values: 'normalized',
    serve: (runner, { mcp }) => mcp.serve(runner),
    id: 'mcp',
    summary: 'Tools for agents, by the Model Context Protocol (docs/mcp.md).',
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    answer: {
      description: 'A message of the Model Context Protocol.',
      types: ['application/json', 'text/event-stream'],
    },
  },
  {
    path: '/api/erp/changes',
    via: 'changes',
    data: 'changes',
    values: 'preferred',
    serve: (runner, { changes }) => changes.serve(runner),
    id: 'changes',
    summary: 'Returns the records that were made or changed since an earlier answer (docs/changes.md).',
    example: {
      id: 1,
      model_id: 'res.partner',
      domain: [['is_company', '=', true]],
      fields: ['name', 'email'],
      since: null,
      limit: 2,
      erp_instance: { name: 'prod' },
    },
    answer: {
      description: 'The changes, and the cursor for the next request.',
      types: ['application/json'],
    },
  },
  {
    path: '/api/erp/download',
    via: 'download',
    data: 'files',
    values: 'unconverted',
    takesApprovals: true,
    serve: download,
    id: 'download',
    summary: 'Returns the file in a binary field of a record (docs/files.md).',
    example: { model_id: 'ir.attachment', record: 7, field: 'datas', erp_instance: { name: 'prod' } },
    answer: { description: 'The bytes of the file.', types: ['application/octet-stream'] },
  },
  {
    path: '/api/erp/upload',
    via: 'upload',
    data: 'files',
    values: 'unconverted',
    body: 'bytes',
    isSingleCall: true,
    takesApprovals: true,
    serve: upload,
    id: 'upload',
    summary: 'Writes a file into a binary field of a record, or creates a record with it (docs/files.md).',
    example: {
      model_id: 'ir.attachment',
      field: 'datas',
      values: { name: 'contract.pdf', res_model: 'res.partner', res_id: 10 },
      erp_instance: { name: 'prod' },
    },
    answer: { description: 'The id of the record.', types: ['application/json'] },
  },
  {
    path: DOCUMENT_PATH,
    via: 'document',
    data: 'documents',
    job: 'document',
    values: 'unconverted',
    serve: sendDocument,
    id: 'document',
    summary: 'Returns the report of a record as PDF, or those of several records as ZIP (docs/documents.md).',
    shape: documentCall,
    example: { model_id: 'sale.order', record: 7, erp_instance: { name: 'prod' } },
    answer: { description: 'The PDF, or the archive.', types: ['application/pdf', 'application/zip'] },
  },
  {
    path: EXPORT_PATH,
    via: 'export',
    data: 'export',
    job: 'export',
    values: 'preferred',
    isBackground: true,
    serve: (runner, { exporter }) => exporter.serve(runner),
    id: 'export',
    summary: 'Returns all records that match a domain, the lowest id first (docs/export.md).',
    shape: exportCall,
    example: EXPORT_EXAMPLE.body,
    answer: {
      description:
        "The records. An error that occurs before the first of them is the same as that of a call: Odoo's own errors have the status 200 and the type application/json. After it, the connection is broken off.",
      types: ['application/x-ndjson', 'text/csv', 'application/json'],
      schema: exportAnswer,
      example: EXPORT_EXAMPLE.answer,
    },
    takesPreferences: true,
  },
  {
    path: FLEET_PATH,
    via: 'fleet',
    values: 'preferred',
    isBackground: true,
    hasParts: true,
    serve: (runner, { fleet }) => fleet.serve(runner),
    id: 'fleet',
    summary: 'Runs one call on many instances, and returns each answer as it arrives (docs/fleet.md).',
    shape: fleetCall,
    example: FLEET_EXAMPLE.body,
    answer: {
      description: 'A line for each instance, and a last line with counts.',
      types: ['application/x-ndjson'],
      schema: fleetAnswer,
      example: FLEET_EXAMPLE.answer,
    },
    takesPreferences: true,
  },
];

export interface MultiCallRoutesDeps extends CallRoutesDeps {
  multiCallServices: MultiCallServices;
}

export function addMultiCallRoutes(app: FastifyInstance, deps: MultiCallRoutesDeps): void {
  for (const { path, alias, serve, ...made } of MULTI_CALL_ROUTES) {
    const source = { by: 'session' as const, ...made };
    const answer = (runner: CallRunner) => serve(runner, deps.multiCallServices);
    for (const each of alias === undefined ? [path] : [path, alias])
      addCallRoute(app, { path: each, dialect: OWN_DIALECT, source, answer }, deps);
  }
}

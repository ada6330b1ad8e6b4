/**
 * The routes of calls, as one table: Fastify's routes and their part of the OpenAPI document are generated from it, and
 * so cannot differ.
 */

import { COMPATIBLE_CHANGES, EXECUTE_PATH, KEY_HEADER, VERSION_PATH } from '@erp-proxy/contract';
import type { OperationName, RunRequest } from '@erp-proxy/gateway';
import { type Dialect, type Exchange, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { ConnectionListener } from '@erp-proxy/wire/server';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { addPreflight } from './answer-writer.ts';
import type { BodyBudget } from './body.ts';
import type { FindAddress } from './forwarded.ts';
import { NodeExchange } from './node-exchange.ts';
import { type CallExample, EXECUTE_EXAMPLES, VERSION_EXAMPLES } from './openapi/call-examples.ts';
import * as schemas from './openapi/call-schemas.ts';
import { OverloadAnswer } from './overload-answer.ts';
import { PlainExchange } from './plain-exchange.ts';
import type { ProtectedResource } from './protected-resource.ts';
import { RoutedRequest } from './routed-request.ts';
import type { LoadShedder } from './shedding/load-shedder.ts';

/** A `POST` route for calls. */
export interface CallRoute {
  path: string;
  operation: OperationName;
  dialect: Dialect;
  /** For the OpenAPI document, as all members below. */
  summary: string;
  /** Name of the operation in generated clients; derived from the path if left out. */
  id?: string;
  /** Alternative shapes of body and answer; any object if left out. */
  shapes?: { body: readonly z.ZodType[]; answer: readonly z.ZodType[] };
  examples?: readonly CallExample[];
  /** True if the document shows the headers of idempotency keys and shared reads. */
  takesCallOptions?: true;
}

/**
 * How requests in ODXProxy's wire format differ from those in our own. docs/compatibility.md describes the differences
 * for callers.
 */
const COMPATIBLE_DIALECT: Dialect = {
  instanceAt: 'odoo_instance',
  keyHeaders: ['x-api-key', 'apikey', KEY_HEADER, 'authorization'],
  // `authorization` is one of the headers for the key here: these clients send no other token in it.
  allowsOtherTokens: false,
  errors: COMPATIBLE_CHANGES,
  // ODXProxy's Java client sends these arguments with every search; Odoo would raise a TypeError.
  surplusArguments: new Map([['search_count', new Set(['fields', 'order', 'offset'])]]),
  takesPreferences: false,
  challenge: null,
  scope: 'erp',
};

export const CALL_ROUTES: readonly CallRoute[] = [
  {
    path: EXECUTE_PATH,
    operation: 'execute',
    dialect: OWN_DIALECT,
    id: 'execute',
    summary: 'Runs a call, or a batch of calls, on an Odoo server.',
    shapes: {
      body: [schemas.executeCall, schemas.executeBatch],
      answer: [schemas.executeAnswer, schemas.batchAnswer],
    },
    examples: EXECUTE_EXAMPLES,
    takesCallOptions: true,
  },
  {
    path: VERSION_PATH,
    operation: 'version',
    dialect: OWN_DIALECT,
    id: 'askVersion',
    summary: 'Asks an Odoo server for its version.',
    shapes: { body: [schemas.versionQuestion], answer: [schemas.versionAnswer] },
    examples: VERSION_EXAMPLES,
  },
  ...compatibleRoutes(['/api/odoo/execute', '/v1/odoo/execute', '/api/odoo'], 'execute', 'The execute call'),
  ...compatibleRoutes(['/v2/odoo/execute'], 'json2', "A call of Odoo's `/json/2`"),
  ...compatibleRoutes(['/api/odoo/version', '/v1/odoo/version'], 'version', 'The version of a server'),
  ...compatibleRoutes(['/v2/odoo/version'], 'jsonVersion', 'The version of a server'),
];

/** The same operations for callers that use ODXProxy's wire format. */
function compatibleRoutes(
  paths: readonly string[],
  operation: OperationName,
  what: string,
): readonly CallRoute[] {
  const summary = `${what}, for callers that use ODXProxy's wire format.`;
  return paths.map((path) => ({ path, operation, dialect: COMPATIBLE_DIALECT, summary }));
}

export interface CallRoutesDeps {
  run: RunRequest;
  http: { bodyBytesMax: number };
  bodyBudget: BodyBudget;
  /** Finds the address of a plain call's caller. Fastify finds those of the others. */
  findAddress: FindAddress;
  protectedResource: ProtectedResource;
  connectionListener: ConnectionListener;
  loadShedder: LoadShedder;
}

export function addCallRoutes(app: FastifyInstance, deps: CallRoutesDeps): void {
  for (const { path, operation, dialect } of CALL_ROUTES)
    addCallRoute(app, { path, operation, dialect, source: { by: 'client' } }, deps);
}

/** The scope that an application needs for a route. */
export function chooseScope(path: string): 'erp' | 'mcp' {
  return /^\/mcp\/?$/.test(path) ? 'mcp' : 'erp';
}

/** What a route runs. */
interface ServedRoute extends Omit<Parameters<RunRequest>[0], 'exchange'> {
  path: string;
}

/** Plain requests do not pass the router; all others do, and wait for the load shedder behind it. */
export function addCallRoute(
  app: FastifyInstance,
  { path, ...served }: ServedRoute,
  { run, connectionListener, findAddress, loadShedder, http, bodyBudget, protectedResource }: CallRoutesDeps,
): void {
  const dialect: Dialect = {
    ...served.dialect,
    challenge: protectedResource.describeChallenge(path),
    scope: chooseScope(path),
  };
  const overloadAnswer = new OverloadAnswer(dialect);
  const serve = (exchange: Exchange) => void run({ ...served, dialect, exchange });
  const { bodyBytesMax } = http;
  connectionListener.serve(path, {
    serve(call) {
      const address = findAddress(call, call.headers);
      serve(new PlainExchange(call, { address, bodyBytesMax, bodyBudget }));
    },
    printRefusal: (headers, keepAlive) => overloadAnswer.print(headers, keepAlive),
  });
  addPreflight(app, path);
  app.post(path, ({ raw: request, ip }, reply) => {
    reply.hijack();
    const response = reply.raw;
    const admit = () => {
      serve(new NodeExchange(request, response, { address: ip, bodyBytesMax, bodyBudget }));
    };
    const refuse = () => overloadAnswer.send(request, response);
    loadShedder.submit(new RoutedRequest(response, { admit, refuse }));
  });
}

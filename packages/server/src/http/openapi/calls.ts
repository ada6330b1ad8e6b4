/** The routes of calls and of the process in the OpenAPI document. */
import {
  EXECUTE_PATH,
  KEY_HEADER,
  LIMIT_HEADER,
  PROXY_ERRORS,
  type ProxyErrorType,
  VERSION_PATH,
} from '@erp-proxy/contract';
import { refer } from '../schema-registry.ts';
import * as schemas from './call-schemas.ts';

/** Of no request that reaches one of these routes. */
const ROUTING_ERRORS: readonly ProxyErrorType[] = ['route_not_found', 'method_not_allowed'];

const CALL_HEADERS = [
  describeHeader(
    'x-request-timeout',
    'Whole seconds for the whole call: 15 where left out, 300 at most.',
    'integer',
  ),
  describeHeader('x-request-id', 'Kept, if it is 1 to 128 of `[A-Za-z0-9._-]`.', 'string'),
];

const IDEMPOTENCY_HEADER = describeHeader(
  'idempotency-key',
  'Any text of 1 to 255 characters: a call that comes again under it is not run again, and is given the first answer (docs/idempotency.md).',
  'string',
);

const SHARING_HEADER = describeHeader(
  'cache-control',
  '`max-age=<seconds>`: a read may have an answer that was kept and is no older, where the policy of the key allows it. `no-cache`: the call must not be shared with others.',
  'string',
);

/** Of the answer to one call. */
const ANSWER_HEADERS = {
  [LIMIT_HEADER]: {
    description:
      "The `limit_max` of the key's policy, where it took the place of the call's own limit, or there was none: the result may have been cut. On a batch: for at least one of its calls.",
    schema: { type: 'integer' },
  },
  'idempotency-replayed': {
    description: '`true` where an earlier attempt under the same `idempotency-key` was given this answer.',
    schema: { type: 'string' },
  },
  age: {
    description: 'Seconds since the call to Odoo was made, where the answer was kept.',
    schema: { type: 'integer' },
  },
};

export const CALL_PATHS = {
  [EXECUTE_PATH]: {
    post: describeCall({
      id: 'execute',
      summary: 'Runs a call, or a batch of calls, on an Odoo server.',
      body: { oneOf: [refer(schemas.executeCall), refer(schemas.executeBatch)] },
      answer: { oneOf: [refer(schemas.executeAnswer), refer(schemas.batchAnswer)] },
      parameters: [...CALL_HEADERS, IDEMPOTENCY_HEADER, SHARING_HEADER],
      headers: ANSWER_HEADERS,
    }),
  },
  [VERSION_PATH]: {
    post: describeCall({
      id: 'askVersion',
      summary: 'Asks an Odoo server for its version.',
      body: refer(schemas.versionQuestion),
      answer: refer(schemas.versionAnswer),
    }),
  },
  ...describeCompatible(['/api/odoo/execute', '/v1/odoo/execute', '/api/odoo'], 'The execute call'),
  ...describeCompatible(['/v2/odoo/execute'], "A call of Odoo's `/json/2`"),
  ...describeCompatible(
    ['/api/odoo/version', '/v1/odoo/version', '/v2/odoo/version'],
    'The version of a server',
  ),
  ...describePages({
    '/healthz': ['isAlive', 'Whether the process is alive.', 'application/json'],
    '/readyz': ['isReady', 'Whether it may take traffic (503: not now), by check.', 'application/json'],
    '/metrics': ['getMetrics', "Metrics in Prometheus' text format.", 'text/plain'],
    '/openapi.json': ['getOpenapi', 'This document.', 'application/json'],
    '/_/about': ['getAbout', 'For callers of ODXProxy: what this is.', 'application/json'],
    '/_/license': ['getLicense', 'For callers of ODXProxy: that nothing runs out.', 'application/json'],
    '/_/metrics': ['getCompatibleMetrics', 'For callers of ODXProxy: the metrics.', 'text/plain'],
  }),
};

function describeCall({
  id,
  summary,
  body,
  answer,
  parameters = CALL_HEADERS,
  headers,
}: {
  id: string;
  summary: string;
  body: object;
  answer: object;
  parameters?: object[];
  headers?: object;
}) {
  return {
    operationId: id,
    summary,
    tags: ['calls'],
    security: [{ clientKey: [] }, { clientToken: [] }],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: {
        description: 'What Odoo answered: a result, or its own error.',
        ...(headers && { headers }),
        content: { 'application/json': { schema: answer } },
      },
      ...describeErrors(),
    },
  };
}

/** The errors of the proxy, by their HTTP status. */
function describeErrors(): Record<string, object> {
  const types = Object.keys(PROXY_ERRORS) as ProxyErrorType[];
  const given = types.filter((type) => !ROUTING_ERRORS.includes(type));
  const byStatus = Object.groupBy(given, (type) => PROXY_ERRORS[type].httpStatus);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      {
        description: group.map((type) => `\`${type}\`: ${PROXY_ERRORS[type].when}`).join('\n\n'),
        content: { 'application/json': { schema: refer(schemas.failedAnswer) } },
      },
    ]),
  );
}

function describeCompatible(paths: readonly string[], what: string): Record<string, object> {
  const entries = paths.map((path) => [
    path,
    {
      post: {
        operationId: `compatible${path.replaceAll(/\/(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
        summary: `${what}, for callers that speak ODXProxy's wire format.`,
        tags: ['compatible'],
        security: [{ compatibleKey: [] }, { clientKey: [] }, { clientToken: [] }],
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
        responses: {
          default: {
            description: 'See docs/compatibility.md.',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
        },
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function describePages(
  pages: Record<string, [id: string, summary: string, type: string]>,
): Record<string, object> {
  const entries = Object.entries(pages).map(([path, [operationId, summary, type]]) => [
    path,
    {
      get: {
        operationId,
        summary,
        tags: [path.startsWith('/_/') ? 'compatible' : 'process'],
        security: [],
        responses: { default: { description: summary, content: { [type]: {} } } },
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function describeHeader(name: string, description: string, type: string): object {
  return { name, in: 'header', required: false, description, schema: { type } };
}

export const CALL_SECURITY = {
  clientKey: { type: 'apiKey', in: 'header', name: KEY_HEADER, description: 'A client key.' },
  clientToken: { type: 'http', scheme: 'bearer', description: 'A client key, for clients that send it so.' },
  compatibleKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A client key.' },
};

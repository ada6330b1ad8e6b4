/** The routes of calls and the pages of the process in the OpenAPI document. */
import { KEY_HEADER, LIMIT_HEADER, PROXY_ERRORS, type ProxyErrorType } from '@erp-proxy/contract';
import type { z } from 'zod';
import { CALL_ROUTES, type CallRoute } from '../call-routes.ts';
import { refer } from '../schema-registry.ts';
import { failedAnswer } from './call-schemas.ts';

/** Errors that no request to one of these routes can get. */
const ROUTING_ERRORS: readonly ProxyErrorType[] = ['route_not_found', 'method_not_allowed'];

const CALL_HEADERS = [
  describeHeader(
    'x-request-timeout',
    'Time limit of the whole call, in whole seconds. Default: 15; maximum: 300.',
    'integer',
  ),
  describeHeader(
    'x-request-id',
    'Returned in the answer, if it is 1 to 128 characters of `[A-Za-z0-9._-]`.',
    'string',
  ),
];

const IDEMPOTENCY_HEADER = describeHeader(
  'idempotency-key',
  'Any text of 1 to 255 characters. A call that is sent again with the same key is not run again, and gets the first answer (docs/idempotency.md).',
  'string',
);

const SHARING_HEADER = describeHeader(
  'cache-control',
  '`max-age=<seconds>`: a read may be answered with a kept answer that is not older, if the policy of the key allows it. `no-cache`: the answer of the call must not be shared with other callers.',
  'string',
);

/** Headers of the answer to a call. */
const ANSWER_HEADERS = {
  [LIMIT_HEADER]: {
    description:
      "The `limit_max` of the key's policy, if it replaced the limit of the call, or the call had none. The result may be incomplete. On a batch: applies to at least one of its calls.",
    schema: { type: 'integer' },
  },
  'idempotency-replayed': {
    description: '`true` if this answer was stored for an earlier attempt with the same `idempotency-key`.',
    schema: { type: 'string' },
  },
  age: {
    description: 'Seconds since the call to Odoo, if the answer is a kept one.',
    schema: { type: 'integer' },
  },
};

export function describeCallPaths(): Record<string, object> {
  return {
    ...Object.fromEntries(CALL_ROUTES.map((route) => [route.path, { post: describeCall(route) }])),
    ...describePages({
      '/healthz': ['isAlive', 'Whether the process is alive.', 'application/json'],
      '/readyz': [
        'isReady',
        'Whether the process can take traffic, by check; 503 if not.',
        'application/json',
      ],
      '/metrics': ['getMetrics', 'Metrics in the text format of Prometheus.', 'text/plain'],
      '/openapi.json': ['getOpenapi', 'This document.', 'application/json'],
      '/_/about': [
        'getAbout',
        'For clients of ODXProxy: name and version of the gateway.',
        'application/json',
      ],
      '/_/license': [
        'getLicense',
        'For clients of ODXProxy: a licence that does not expire.',
        'application/json',
      ],
      '/_/metrics': ['getCompatibleMetrics', 'For clients of ODXProxy: the metrics.', 'text/plain'],
    }),
  };
}

function describeCall(route: CallRoute): object {
  const { path, summary, id = nameCompatible(path), shapes, takesCallOptions } = route;
  if (shapes === undefined) return describeCompatible(id, summary);
  return {
    operationId: id,
    summary,
    tags: ['calls'],
    security: [{ clientKey: [] }, { clientToken: [] }],
    parameters: takesCallOptions ? [...CALL_HEADERS, IDEMPOTENCY_HEADER, SHARING_HEADER] : CALL_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: referToAny(shapes.body) } } },
    responses: {
      200: {
        description: "Odoo's answer: a result, or Odoo's own error.",
        ...(takesCallOptions && { headers: ANSWER_HEADERS }),
        content: { 'application/json': { schema: referToAny(shapes.answer) } },
      },
      ...describeErrors(),
    },
  };
}

function referToAny(schemas: readonly z.ZodType[]): object {
  const references = schemas.map(refer);
  const [only] = references;
  return references.length === 1 && only ? only : { oneOf: references };
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
        content: { 'application/json': { schema: refer(failedAnswer) } },
      },
    ]),
  );
}

function describeCompatible(operationId: string, summary: string): object {
  return {
    operationId,
    summary,
    tags: ['compatible'],
    security: [{ compatibleKey: [] }, { clientKey: [] }, { clientToken: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      default: {
        description: 'See docs/compatibility.md.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    },
  };
}

/** `/v2/odoo/execute` is `compatibleV2OdooExecute`. */
function nameCompatible(path: string): string {
  return `compatible${path.replaceAll(/\/(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
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
  clientToken: { type: 'http', scheme: 'bearer', description: 'A client key, as a bearer token.' },
  compatibleKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A client key.' },
};

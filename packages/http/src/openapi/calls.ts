/** Describes the routes of calls and the pages of the process for the OpenAPI document. */
import {
  APPROVAL_HEADER,
  KEY_HEADER,
  LIMIT_HEADER,
  NULL_FIELD_HEADER,
  PROXY_ERRORS,
  type ProxyErrorType,
} from '@erp-proxy/contract';
import type { z } from 'zod';
import { CALL_ROUTES, type CallRoute } from '../call-routes.ts';
import { MULTI_CALL_ROUTES, type MultiCallRoute } from '../multi-call-routes.ts';
import { refer } from '../schema-registry.ts';
import type { CallExample } from './call-examples.ts';
import { failedAnswer } from './call-schemas.ts';
import { DEFERRED_ANSWER, describeJobPaths } from './job-paths.ts';

/** Errors of the router, which no request to these routes can get. */
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

const APPROVAL_HEADER_OF_CALLS = describeHeader(
  APPROVAL_HEADER,
  'Ids of approvals, separated by commas. A call that needs an approval runs once under its own (docs/approvals.md).',
  'string',
);

const SHARING_HEADER = describeHeader(
  'cache-control',
  '`max-age=<seconds>`: a read may be answered with a kept answer that is not older, if the policy of the key allows it. `no-cache`: the answer of the call must not be shared with other callers.',
  'string',
);

const VALUES_HEADER = describeHeader(
  'prefer',
  '`values=normalized`: values of fields are converted, in results and in what is written (docs/values.md). `respond-async`: the request runs as a job, and its caller does not wait (docs/jobs.md).',
  'string',
);

/** Headers of a single call, except the preference for values. */
export const CALL_PARAMETERS = [...CALL_HEADERS, IDEMPOTENCY_HEADER, APPROVAL_HEADER_OF_CALLS];

/** Headers of the answer to a call. */
export const ANSWER_HEADERS = {
  'server-timing': {
    description:
      'Durations in milliseconds. `upstream`: Odoo, with the protocol; `queue`: the wait for the Odoo database, if the call waited; `proxy`: the rest.',
    schema: { type: 'string' },
  },
  [LIMIT_HEADER]: {
    description:
      "The `limit_max` of the key's policy, if it replaced the limit of the call, or the call had none. The result may be incomplete. On a batch: applies to at least one of its calls.",
    schema: { type: 'integer' },
  },
  [NULL_FIELD_HEADER]: {
    description:
      'The first field whose value is null in place of a NaN or an Infinity, which JSON cannot express (docs/values.md).',
    schema: { type: 'string' },
  },
  'idempotency-replayed': {
    description: '`true` if this answer was stored for an earlier attempt with the same `idempotency-key`.',
    schema: { type: 'string' },
  },
  'preference-applied': {
    description: '`values=normalized` if values were converted (docs/values.md).',
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
    ...Object.fromEntries(MULTI_CALL_ROUTES.map((route) => [route.path, { post: describeMultiCall(route) }])),
    ...describeJobPaths(describeErrors()),
    ...Object.fromEntries(PAGES.map((page) => [page.path, { get: describePage(page) }])),
  };
}

interface Page {
  path: string;
  id: string;
  summary: string;
  /** Media type of the page. */
  type: string;
  /** Further statuses, whose answers have the same type. */
  others?: Record<string, string>;
  description?: string;
  parameters?: readonly object[];
  /** True if the page takes a client key. Without parameters it needs none. */
  takesKey?: true;
}

const PAGES: readonly Page[] = [
  { path: '/healthz', id: 'isAlive', summary: 'Whether the process is alive.', type: 'application/json' },
  {
    path: '/readyz',
    id: 'isReady',
    summary: 'Whether the process can take traffic, by check.',
    type: 'application/json',
    others: { 503: 'The process cannot take traffic.' },
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Metrics in the text format of Prometheus.',
    type: 'text/plain',
  },
  {
    path: '/openapi.json',
    id: 'getOpenapi',
    summary: 'This document, or that of models of an instance.',
    description:
      'With `instance` and `models`, the document describes these models of the instance, as `fields_get` does for the client key. Its policy and limits apply as to a batch of these calls. Errors of Odoo have the status of `data.status`.',
    type: 'application/json',
    takesKey: true,
    parameters: [
      {
        name: 'instance',
        in: 'query',
        description: 'The name of a stored instance.',
        schema: { type: 'string' },
      },
      {
        name: 'models',
        in: 'query',
        description: 'Up to 20 models, separated by commas.',
        schema: { type: 'string' },
        example: 'res.partner,sale.order',
      },
    ],
    others: { '5XX': 'The models could not be described.' },
  },
  { path: '/docs', id: 'getReference', summary: 'A page that shows this document.', type: 'text/html' },
  {
    path: '/docs/reference.css',
    id: 'getReferenceStyle',
    summary: 'The style of the page.',
    type: 'text/css',
  },
  {
    path: '/docs/reference.js',
    id: 'getReferenceScript',
    summary: 'The script of the page.',
    type: 'text/javascript',
  },
  {
    path: '/docs/{page}',
    id: 'getPage',
    summary: 'A page of the documentation as Markdown.',
    type: 'text/markdown',
    parameters: [
      {
        name: 'page',
        in: 'path',
        required: true,
        description: 'The name of the page, as `/llms.txt` lists it.',
        schema: { type: 'string' },
        example: 'calling.md',
      },
    ],
  },
  {
    path: '/llms.txt',
    id: 'getPages',
    summary: 'The list of the pages, in the format of llmstxt.org.',
    type: 'text/plain',
  },
  {
    path: '/_/about',
    id: 'getAbout',
    summary: 'For clients of ODXProxy: name and version of the gateway.',
    type: 'application/json',
  },
  {
    path: '/_/license',
    id: 'getLicense',
    summary: 'For clients of ODXProxy: a licence that does not expire.',
    type: 'application/json',
  },
  {
    path: '/_/metrics',
    id: 'getCompatibleMetrics',
    summary: 'For clients of ODXProxy: the metrics.',
    type: 'text/plain',
  },
];

function describeCall(route: CallRoute): object {
  const { path, summary, id = nameCompatible(path), shapes, examples = [], takesCallOptions } = route;
  if (shapes === undefined) return describeCompatible(id, summary);
  return {
    operationId: id,
    summary,
    tags: ['calls'],
    security: [{ clientKey: [] }, { clientToken: [] }],
    parameters: takesCallOptions ? [...CALL_PARAMETERS, SHARING_HEADER, VALUES_HEADER] : CALL_HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: referToAny(shapes.body),
          examples: listExamples(examples, 'body'),
        },
      },
    },
    responses: {
      200: {
        description: "Odoo's answer: a result, or Odoo's own error.",
        ...(takesCallOptions && { headers: ANSWER_HEADERS }),
        content: {
          'application/json': {
            schema: referToAny(shapes.answer),
            examples: listExamples(examples, 'answer'),
          },
        },
      },
      ...(takesCallOptions && { 202: DEFERRED_ANSWER }),
      ...describeErrors(),
    },
  };
}

function listExamples(examples: readonly CallExample[], part: 'body' | 'answer'): object {
  return Object.fromEntries(
    examples.map((example) => [example.name, { summary: example.summary, value: example[part] }]),
  );
}

function referToAny(schemas: readonly z.ZodType[]): object {
  const references = schemas.map(refer);
  const [only] = references;
  return references.length === 1 && only ? only : { oneOf: references };
}

export interface DescribedAnswer {
  description: string;
  content: Record<string, object>;
}

/** Describes the errors of the proxy, by their HTTP status. */
export function describeErrors(): Record<string, DescribedAnswer> {
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
      200: describeObject("Odoo's answer: a result, or Odoo's own error."),
      '4XX': describeObject('The request was refused; see docs/compatibility.md.'),
      '5XX': describeObject('There is no answer from Odoo; see docs/compatibility.md.'),
    },
  };
}

function describeCallHeader(example: object): object {
  return {
    name: 'x-erp-call',
    in: 'header',
    required: true,
    description: 'The call as JSON, percent-encoded as by `encodeURIComponent`.',
    schema: { type: 'string' },
    example: encodeURIComponent(JSON.stringify(example)),
  };
}

function describeMultiCall({
  id,
  summary,
  example,
  body,
  shape,
  answer,
  takesPreferences,
  job,
}: MultiCallRoute): object {
  const isFile = body === 'bytes';
  const anyObject = { type: 'object' };
  const [firstType] = answer.types;
  const describeContent = (type: string) => {
    if (answer.schema !== undefined && type === firstType) {
      return { schema: refer(answer.schema), ...(answer.example && { example: answer.example }) };
    }
    return type === 'application/json' ? { schema: anyObject } : {};
  };
  const schema = shape === undefined ? anyObject : refer(shape);
  return {
    operationId: id,
    summary,
    tags: ['calls'],
    security: [{ clientKey: [] }, { clientToken: [] }],
    ...(takesPreferences && { parameters: [...CALL_HEADERS, VALUES_HEADER] }),
    ...(isFile && { parameters: [...CALL_HEADERS, IDEMPOTENCY_HEADER, describeCallHeader(example)] }),
    requestBody: {
      required: true,
      content: isFile ? { 'application/octet-stream': {} } : { 'application/json': { schema, example } },
    },
    responses: {
      200: {
        description: answer.description,
        content: Object.fromEntries(answer.types.map((type) => [type, describeContent(type)])),
      },
      ...(job !== undefined && { 202: DEFERRED_ANSWER }),
      ...describeErrors(),
    },
  };
}

/** Names the operation of a path: `compatibleV2OdooExecute` for `/v2/odoo/execute`. */
function nameCompatible(path: string): string {
  return `compatible${path.replaceAll(/\/(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function describeObject(description: string): object {
  return { description, content: { 'application/json': { schema: { type: 'object' } } } };
}

function describePage({ path, id, summary, type, others = {}, ...more }: Page): object {
  const content = { [type]: {} };
  return {
    operationId: id,
    summary,
    tags: [path.startsWith('/_/') ? 'compatible' : 'process'],
    ...(more.description === undefined ? {} : { description: more.description }),
    ...(more.parameters === undefined ? {} : { parameters: more.parameters }),
    security: more.takesKey ? [{}, { clientKey: [] }, { clientToken: [] }] : [],
    responses: {
      200: { description: summary, content },
      '4XX': more.takesKey ? { ...REFUSED_PAGE, description: 'The request was refused.' } : REFUSED_PAGE,
      ...Object.fromEntries(
        Object.entries(others).map(([status, description]) => [status, { description, content }]),
      ),
    },
  };
}

const REFUSED_PAGE = {
  description: 'The request is not valid HTTP, for example without a `host` header.',
  content: { 'application/json': { schema: refer(failedAnswer) } },
};

function describeHeader(name: string, description: string, type: string): object {
  return { name, in: 'header', required: false, description, schema: { type } };
}

export const CALL_SECURITY = {
  clientKey: { type: 'apiKey', in: 'header', name: KEY_HEADER, description: 'A client key.' },
  clientToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A client key, or a token of an identity provider.',
  },
  compatibleKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A client key.' },
};

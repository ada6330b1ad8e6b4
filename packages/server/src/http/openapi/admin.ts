/** The admin API in the OpenAPI document: its table of routes, in other words. */

import { problem } from '../admin/schemas.ts';
import { SESSION_COOKIE } from '../admin/session.ts';
import { ADMIN_PATH, ADMIN_ROUTES, type AdminRoute } from '../admin/table.ts';
import { PROBLEM_TYPE } from '../problem.ts';
import { refer, renderParameters } from '../schema-registry.ts';

export const ADMIN_SECURITY = {
  adminToken: { type: 'http', scheme: 'bearer', description: 'The setting `admin.token`.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'Of `POST /admin/v1/session`. Changes also need `sec-fetch-site: same-origin`, or our own `origin`.',
  },
};

const PROBLEMS = {
  400: 'What was sent cannot be taken; `faults` says where.',
  401: 'Neither the admin token nor a session.',
  403: 'A session changes things from pages of the proxy itself only.',
  404: 'There is no such thing; or the admin API is off.',
  409: 'What is there does not allow it; `detail` says why.',
  412: 'It is not at the version of `if-match` any more.',
  413: 'The body is too large.',
  415: 'The body is not `application/json` in UTF-8.',
  429: 'Too many refused tokens; see `retry-after`.',
  500: 'The proxy failed; or, with the type `urn:erp-proxy:problem:outcome-unknown`, the change may have been made.',
  503: 'The store does not answer or takes no changes, or the vault has no master key.',
} as const;

export function describeAdminPaths(): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ADMIN_ROUTES) {
    const path = `${ADMIN_PATH}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return paths;
}

function describeRoute(route: AdminRoute): object {
  const { body, answer } = route;
  return {
    operationId: route.id,
    summary: route.summary,
    tags: ['admin'],
    security: route.isOpen ? [] : [{ adminToken: [] }, { session: [] }],
    parameters: [
      ...renderParameters('path', route.params),
      ...renderParameters('query', route.query),
      ...(route.takesVersion ? [IF_MATCH] : []),
      ...(route.method === 'GET' && answer.hasEtag ? [IF_NONE_MATCH] : []),
    ],
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: refer(body) } } } }
      : {}),
    responses: {
      [answer.status]: describeAnswer(answer),
      ...(route.method === 'GET' && answer.hasEtag
        ? { 304: { description: 'It is at that version still.' } }
        : {}),
      ...Object.fromEntries(listProblems(route).map((status) => [status, describeProblemAnswer(status)])),
    },
  };
}

function describeAnswer({ status, schema, types, hasEtag }: AdminRoute['answer']): object {
  const json = schema && { 'application/json': { schema: refer(schema) } };
  const others = types && Object.fromEntries(types.map((type) => [type, {}]));
  const content = json ?? others;
  return {
    description: status === 204 ? 'Done.' : status === 201 ? 'Made.' : 'What was asked for.',
    ...(hasEtag ? { headers: { etag: { schema: { type: 'string' } } } } : {}),
    ...(content ? { content } : {}),
  };
}

function listProblems(route: AdminRoute): (keyof typeof PROBLEMS)[] {
  const isChange = route.method !== 'GET';
  return [
    400,
    ...(route.isOpen && !route.body ? [] : ([401, 429] as const)),
    ...(isChange ? ([403] as const) : []),
    ...(route.body ? ([413, 415] as const) : []),
    ...(route.problems ?? []),
    // Of an admin API that is off.
    404,
    500,
    503,
  ];
}

function describeProblemAnswer(status: keyof typeof PROBLEMS): object {
  return { description: PROBLEMS[status], content: { [PROBLEM_TYPE]: { schema: refer(problem) } } };
}

const IF_MATCH = {
  name: 'if-match',
  in: 'header',
  required: false,
  description: 'The `etag` of the version that may be changed. Left out, or `*`: the newest is.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'An `etag`: where nothing has changed since, the answer is 304 and empty.',
  schema: { type: 'string' },
};

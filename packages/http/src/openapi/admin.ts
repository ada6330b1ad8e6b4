/** Describes the admin API for the OpenAPI document, from its table of routes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { includesRole } from '@erp-proxy/contract';
import { problem } from '@erp-proxy/contract/admin';
import { ME_PATH, ME_ROUTES } from '../admin/me-table.ts';
import { HOST_COOKIE } from '../admin/session.ts';
import { ADMIN_PATH, ADMIN_ROUTES, type AdminRoute, needsBody } from '../admin/table.ts';
import { PROBLEM_TYPE } from '../problem.ts';
import { refer, renderParameters } from '../schema-registry.ts';
import { ANSWER_HEADERS, CALL_PARAMETERS, type DescribedAnswer, describeErrors } from './calls.ts';

export const ADMIN_SECURITY = {
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The setting `admin.token`, or a personal token of an operator.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: HOST_COOKIE,
    description:
      'The cookie that `POST /admin/v1/session` sets; `ep_session` below a path of a shared host and over plain http. Changes also need `sec-fetch-site: same-origin`, or an `origin` of the proxy itself.',
  },
};

const PROBLEMS = {
  400: 'The request is invalid; `faults` lists each fault and its place.',
  401: 'There is neither a valid token nor a valid session.',
  403: 'The rights of the caller do not suffice: its role, or the instances that it is limited to. Or a session makes a change from a page of another server.',
  404: 'The object does not exist, or the admin API is off.',
  409: 'The change conflicts with the present state; `detail` gives the reason.',
  412: 'The object does not have the version of `if-match` any more.',
  413: 'The body is too large.',
  415: 'The body is not `application/json` in UTF-8.',
  429: 'Too many refused tokens or sign-in links, or checks of servers; see `retry-after`.',
  500: 'The proxy failed. With the type `urn:erp-proxy:problem:outcome-unknown`, the change may have been made.',
  503: 'The store does not answer or takes no changes, or the vault has no master key.',
} as const;

export async function describeAdminPaths(): Promise<Record<string, Record<string, object>>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ADMIN_ROUTES) {
    const path = `${ADMIN_PATH}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
    await nextTurn();
  }
  for (const route of ME_ROUTES) {
    const path = `${ME_PATH}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    const described = describeRoute({ ...route, role: 'viewer', handle: async () => null }, OF_PERSON);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described };
    await nextTurn();
  }
  return paths;
}

const OF_PERSON = {
  description: 'For a person, by a session of the identity provider or one of its tokens. Needs no role.',
  tags: ['persons'],
  security: [{ clientToken: [] }, { session: [] }],
};

function describeRoute(route: AdminRoute, of?: typeof OF_PERSON): object {
  const { body, answer } = route;
  const problems = listProblems(route).map((status) => [status, describeProblemAnswer(status)] as const);
  const callErrors = Object.entries(answer.isOfCall ? describeErrors() : {});
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.isOpen ? {} : { description: `Needs the role \`${route.role}\`.` }),
    tags: ['admin'],
    security: route.isOpen ? [] : [{ adminToken: [] }, { session: [] }],
    ...of,
    parameters: [
      ...renderParameters('path', route.params),
      ...renderParameters('query', route.query),
      ...(answer.isOfCall ? CALL_PARAMETERS : []),
      ...(route.takesVersion ? [IF_MATCH] : []),
      ...(route.method === 'GET' && answer.hasEtag ? [IF_NONE_MATCH] : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: needsBody(route),
            content: { [route.isForm ? FORM : 'application/json']: { schema: refer(body) } },
          },
        }
      : {}),
    responses: {
      [answer.status]: describeAnswer(answer),
      ...(route.method === 'GET' && answer.hasEtag
        ? { 304: { description: 'The object still has that version.' } }
        : {}),
      ...mergeAnswers([...problems, ...callErrors]),
      // Programs that read the document expect a 2xx, or an answer for every other status.
      ...(answer.status === 303 ? { default: { description: 'There is no other answer.' } } : {}),
    },
  };
}

/** Merges answers of the same status, which can have both a problem and an error of the call. */
function mergeAnswers(answers: readonly (readonly [string | number, DescribedAnswer])[]): object {
  const merged: Record<string, DescribedAnswer> = {};
  for (const [status, { description, content }] of answers) {
    const other = merged[status];
    merged[status] = {
      description: other === undefined ? description : `${other.description}\n\n${description}`,
      content: { ...other?.content, ...content },
    };
  }
  return merged;
}

const FORM = 'application/x-www-form-urlencoded';

const DESCRIPTIONS: Record<AdminRoute['answer']['status'], string> = {
  200: 'The requested data.',
  201: 'Created.',
  204: 'Done.',
  303: 'The browser goes on at the address in `location`.',
};

function describeAnswer({ status, schema, types, hasEtag, isOfCall }: AdminRoute['answer']): object {
  const json = schema && { 'application/json': { schema: refer(schema) } };
  const others = types && Object.fromEntries(types.map((type) => [type, {}]));
  const content = json || others ? { ...json, ...others } : undefined;
  return {
    description: DESCRIPTIONS[status],
    ...(hasEtag ? { headers: { etag: { schema: { type: 'string' } } } } : {}),
    ...(isOfCall ? { headers: ANSWER_HEADERS } : {}),
    ...(content ? { content } : {}),
  };
}

function listProblems(route: AdminRoute): (keyof typeof PROBLEMS)[] {
  const isChange = route.method !== 'GET';
  return [
    400,
    ...(route.isOpen && !route.body ? [] : ([401, 429] as const)),
    ...(isChange || route.reach === 'all' || !includesRole('viewer', route.role) ? ([403] as const) : []),
    ...(route.body ? ([413] as const) : []),
    ...(route.body && !route.isForm ? ([415] as const) : []),
    ...(route.problems ?? []),
    // The answer while the admin API is off.
    404,
    500,
    503,
  ];
}

function describeProblemAnswer(status: keyof typeof PROBLEMS): DescribedAnswer {
  return { description: PROBLEMS[status], content: { [PROBLEM_TYPE]: { schema: refer(problem) } } };
}

const IF_MATCH = {
  name: 'if-match',
  in: 'header',
  required: false,
  description:
    'The `etag` of the version to change, or `"<version>"`. If it is left out or `*`, the newest version is changed.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'An `etag`. If the object still has it, the answer is an empty 304.',
  schema: { type: 'string' },
};

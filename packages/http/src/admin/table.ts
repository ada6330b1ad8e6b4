/**
 * The routes of `/admin/v1`: those of the operations in the contract, and further ones for sessions and calls.
 * Fastify's routes and their part of the OpenAPI document are generated from this table, and so cannot differ.
 */

import { Readable } from 'node:stream';
import type { Admin } from '@erp-proxy/admin';
import { type Examination, type ExaminationCheck, nameActor } from '@erp-proxy/contract';
import * as schemas from '@erp-proxy/contract/admin';
import { adminCallInput, adminDocumentInput, fieldRule, POLICIES } from '@erp-proxy/contract/admin';
import { formatAudit } from '@erp-proxy/control/audit';
import { sendDocument } from '@erp-proxy/data/documents';
import { FIELD_RULE_SCHEMA, POLICY_SCHEMA } from '@erp-proxy/policy/parse';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { executeAnswer, executeCall } from '../openapi/call-schemas.ts';
import { documentCall } from '../openapi/data-schemas.ts';
import { named, showAs } from '../schema-registry.ts';
import type { Authenticator } from './authenticate.ts';
import type { Execute, OtherRoute } from './execute.ts';
import type { Authenticated } from './login.ts';
import type { SignInEnd } from './operator-sign-in.ts';

// Completes the schemas of the admin API with those of the proxy's own parsers: of policies, and of execute calls.
const policy = named('Policy', POLICY_SCHEMA);
for (const schema of POLICIES) showAs(policy, schema);
showAs(named('FieldRule', FIELD_RULE_SCHEMA), fieldRule);

/** The call is kept as its original bytes. */
const adminCall = named(
  'AdminCall',
  adminCallInput.extend({
    call: showAs(executeCall, z.instanceof(Uint8Array, { error: 'is missing' })),
  }),
);

/** The request is kept as its original bytes. */
const adminDocument = named(
  'AdminDocument',
  adminDocumentInput.extend({
    document: showAs(documentCall, z.instanceof(Uint8Array, { error: 'is missing' })),
  }),
);

const DOCUMENT: OtherRoute = {
  made: { via: 'console', data: 'documents', values: 'unconverted' },
  answer: sendDocument,
};

export const ADMIN_PATH = '/admin/v1';

export interface AdminRoute<Body = unknown> extends schemas.AdminOperation {
  /** Name of the operation in generated clients. */
  id: string;
  body?: z.ZodType<Body>;
  /** Member of the body that is kept as its original bytes. */
  rawMember?: string;
  /** True if the body is a form, as providers send it, in place of JSON. */
  isForm?: true;
  /** `isOfCall`: the answer and its errors are those of an execute call. */
  answer: schemas.AdminAnswer & { isOfCall?: true };
  /** True if the route needs neither token nor session, and so no role. */
  isOpen?: true;
  /** Returns the body of the answer: a value for JSON, a stream, or nothing. */
  handle(call: AdminCall<Body>): Promise<unknown>;
}

/** False if the route also works without a body. For `PATCH` it is true: a change of nothing is a mistake. */
export function needsBody({ method, body }: Pick<AdminRoute, 'method' | 'body'>): boolean {
  return body !== undefined && (method === 'PATCH' || !body.safeParse({}).success);
}

export interface AdminCall<Body> {
  admin: Admin;
  body: Body;
  /** The arguments of the operation, in their order. */
  given: readonly unknown[];
  identity: Authenticated | null;
  authenticator: Authenticator;
  /** Runs a call and sends its answer. */
  execute(input: Parameters<Execute>[0], other?: OtherRoute): Promise<void>;
  request: FastifyRequest;
  reply: FastifyReply;
}

type OperationId = keyof schemas.AdminOperations;
type Given<Id extends OperationId> = Parameters<schemas.AdminOperations[Id]>;
type Http = Pick<AdminCall<unknown>, 'admin' | 'request' | 'reply'>;

const EXPORT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' };

/** Operations that need more of the request or the reply than input and result. */
const HANDLERS: { [Id in OperationId]?: (http: Http, ...given: Given<Id>) => Promise<unknown> } = {
  comparePolicy: ({ admin, reply }, input) => admin.comparePolicy(input, watchCaller(reply)),
  checkInstance: ({ admin, request, reply }, name) =>
    answerExamination((onCheck) => admin.checkInstance(name, onCheck), request, reply),
  checkServer: ({ admin, request, reply }, input) =>
    answerExamination((onCheck) => admin.checkServer(input, onCheck), request, reply),
  async exportAudit({ admin, reply }, { format = 'ndjson', ...query }) {
    // Errors of the query must be thrown before the answer begins.
    const records = await awaitFirst(admin.exportAudit(query));
    reply.headers({
      'content-type': EXPORT_TYPES[format],
      'content-disposition': `attachment; filename="audit.${format}"`,
    });
    return Readable.from(formatAudit(records, format));
  },
};

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...(Object.keys(schemas.OPERATIONS) as OperationId[]).map(createRoute),
  route({
    method: 'POST',
    path: '/execute',
    role: 'operator',
    id: 'executeAsAdmin',
    summary: 'Runs an execute call as a client key, or without the restrictions of a policy.',
    body: adminCall,
    rawMember: 'call',
    answer: { status: 200, schema: executeAnswer, isOfCall: true },
    problems: [404, 409, 503],
    handle: ({ execute, body }) => execute(body),
  }),
  route({
    method: 'POST',
    path: '/document',
    role: 'operator',
    id: 'printDocumentAsAdmin',
    summary:
      'Returns the report of a record as PDF, or those of several records as ZIP, as a client key or without the restrictions of a policy.',
    body: adminDocument,
    rawMember: 'document',
    answer: {
      status: 200,
      schema: executeAnswer,
      types: ['application/pdf', 'application/zip'],
      isOfCall: true,
    },
    problems: [404, 409, 503],
    handle: ({ execute, body: { document, key_id } }) =>
      execute({ call: document, ...(key_id === undefined ? {} : { key_id }) }, DOCUMENT),
  }),
  route({
    method: 'POST',
    path: '/session',
    role: 'viewer',
    id: 'login',
    summary:
      'Starts a session of eight hours, with the token or with the code of a sign-in link. Its cookie replaces the token on pages of the proxy itself.',
    body: schemas.loginInput,
    answer: { status: 200, schema: schemas.sessionView },
    isOpen: true,
    handle: async ({ authenticator, body, request, reply }) =>
      showSession(await authenticator.login(body, request, reply)),
  }),
  route({
    method: 'GET',
    path: '/session',
    role: 'viewer',
    id: 'getSession',
    summary: 'Returns how the request was authenticated.',
    answer: { status: 200, schema: schemas.sessionView },
    handle: async ({ identity }) => identity && showSession(identity),
  }),
  route({
    method: 'GET',
    path: '/session/ways',
    role: 'viewer',
    id: 'listWaysToSignIn',
    summary: 'Returns how a session can be started.',
    answer: { status: 200, schema: schemas.signInView },
    isOpen: true,
    handle: async ({ authenticator }) => authenticator.listWays(),
  }),
  route({
    method: 'GET',
    path: '/session/start',
    role: 'viewer',
    id: 'startSignIn',
    summary: 'Sends a browser to the identity provider, where its person signs in.',
    query: schemas.startSignInQuery,
    answer: { status: 303 },
    isOpen: true,
    handle: async ({ authenticator, given: [query], reply }) =>
      authenticator.provider.start(readSignInEnd(query as schemas.StartSignInQuery), reply),
  }),
  route({
    method: 'GET',
    path: '/session/callback',
    role: 'viewer',
    id: 'finishSignIn',
    summary:
      'Takes the answer of the identity provider from the browser, starts a session, and sends the browser to the console.',
    query: z.looseObject({ state: z.string().exactOptional() }),
    answer: { status: 303 },
    isOpen: true,
    handle: async ({ authenticator, request, reply }) => authenticator.provider.finish(request, reply),
  }),
  route({
    method: 'POST',
    path: '/session/backchannel',
    role: 'viewer',
    id: 'endSessions',
    summary: 'Takes a logout token of the identity provider, and ends the sessions that it names.',
    body: schemas.logoutTokenInput,
    isForm: true,
    answer: { status: 204 },
    problems: [503],
    isOpen: true,
    handle: async ({ authenticator, body }) => authenticator.endByProvider(body.logout_token),
  }),
  route({
    method: 'POST',
    path: '/session/program',
    role: 'viewer',
    id: 'takeProgramSession',
    summary: 'Gives a program the session of the person who has just signed in for it.',
    body: schemas.programSessionInput,
    answer: { status: 200, schema: schemas.programSessionView },
    isOpen: true,
    handle: async ({ authenticator, body, request, reply }) => {
      const { person, session } = await authenticator.takeOver(body, request, reply);
      return { ...showSession(person), session };
    },
  }),
  route({
    method: 'DELETE',
    path: '/session',
    role: 'viewer',
    id: 'logout',
    summary: 'Ends the session: clears its cookie, or ends the session of a program.',
    answer: { status: 204 },
    isOpen: true,
    handle: async ({ authenticator, request, reply }) => authenticator.logout(request, reply),
  }),
];

/** Creates the route of an operation. */
function createRoute(id: OperationId): AdminRoute {
  const operation: schemas.AdminOperation = schemas.OPERATIONS[id];
  const { path, location } = operation;
  const names = path.match(/(?<=:)\w+/g)?.map((name) => [name, z.string()]);
  return {
    ...(names === undefined ? {} : { params: z.object(Object.fromEntries(names)) }),
    ...operation,
    id,
    async handle({ admin, given, request, reply }) {
      const http: Http = { admin, request, reply };
      const handler = HANDLERS[id];
      const answer = await (handler ? call(handler, [http, ...given]) : call(admin[id], given));
      if (location !== undefined) reply.header('location', ADMIN_PATH + fillIn(location, answer));
      return answer;
    },
  };
}

/** Calls a method with arguments that the route has checked by the schemas of the operation. */
function call<Given extends never[]>(
  method: (...given: Given) => unknown,
  given: readonly unknown[],
): unknown {
  return method(...(given as Given));
}

/** Replaces the names in the path by the values of these members of the answer. */
function fillIn(path: string, answer: unknown): string {
  return path.replaceAll(/:(\w+)/g, (_, name) => String((answer as Record<string, unknown>)[name]));
}

/** Infers the types of the handler's input from the schemas of the route. */
function route<Body>(definition: AdminRoute<Body>): AdminRoute {
  return definition;
}

function readSignInEnd({ return_to, port, challenge }: schemas.StartSignInQuery): SignInEnd {
  const isProgram = port !== undefined && challenge !== undefined;
  return { returnTo: return_to, program: isProgram ? { port: Number(port), challenge } : null };
}

function showSession(identity: Authenticated): z.infer<typeof schemas.sessionView> {
  const { role, instances, otherRoles = [], expiresAt } = identity;
  const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return {
    actor: nameActor(identity),
    role,
    instances: instances && [...instances],
    other_roles: [...otherRoles],
    expires_at,
  };
}

/** A signal that aborts when the caller closes its connection before the answer is sent. */
function watchCaller({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  if (raw.destroyed) left.abort();
  else raw.once('close', () => left.abort());
  return left.signal;
}

/** Resolves to the same items after the first one was read. Rejects if reading it fails. */
async function awaitFirst<Item>(items: AsyncIterable<Item>): Promise<AsyncIterable<Item>> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

const EXAMINATION_LINES = 'application/x-ndjson';

type Examine = (onCheck?: (check: ExaminationCheck) => void) => Promise<Examination>;

/**
 * Answers an examination: as one JSON value, or, for a caller that accepts it, as one line of JSON for each check as
 * soon as it is found, and a last line with the whole examination. Returns the body of the answer. Rejects if the
 * examination fails before its first check.
 */
async function answerExamination(
  examine: Examine,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<Examination | Readable> {
  if (!acceptsLines(headers.accept)) return examine();
  const lines = new Readable({ read() {} });
  const print = (line: object) => lines.push(`${JSON.stringify(line)}\n`);
  const first = Promise.withResolvers<void>();
  const ended = examine((check) => {
    print({ check });
    first.resolve();
  }).then((examination) => {
    print({ examination });
    lines.push(null);
  });
  await Promise.race([first.promise, ended]);
  ended.catch((error: Error) => lines.destroy(error));
  reply.header('content-type', EXAMINATION_LINES);
  return lines;
}

function acceptsLines(accept: string | undefined): boolean {
  const types = accept?.split(',').map((type) => type.split(';', 1)[0]?.trim().toLowerCase());
  return types?.includes(EXAMINATION_LINES) === true;
}

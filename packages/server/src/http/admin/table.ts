/**
 * The routes of `/admin/v1`, as one table: Fastify's routes and their part of the OpenAPI document are generated from
 * it, and so cannot differ.
 */
import { Readable } from 'node:stream';
import type { VersionTag } from '@erp-proxy/contract';
import * as schemas from '@erp-proxy/contract/admin';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Admin } from '../../admin/admin.ts';
import { formatAudit } from '../../audit/format.ts';
import { executeAnswer } from '../openapi/call-schemas.ts';
import type { Authenticator, Identity } from './authenticate.ts';
import { answerExamination, EXAMINATION_LINES } from './examination-lines.ts';
import type { Execute } from './execute.ts';
import { adminCall } from './schemas.ts';

export const ADMIN_PATH = '/admin/v1';

export interface AdminRoute<Params = unknown, Query = unknown, Body = unknown> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to {@link ADMIN_PATH}. */
  path: string;
  /** For the OpenAPI document. */
  summary: string;
  /** Name of the operation in generated clients. */
  id: string;
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** Member of the body that stays the bytes that were sent. */
  rawMember?: string;
  answer: AdminAnswer;
  /** Statuses of problems beyond those that every route can have. */
  problems?: readonly (404 | 409 | 412 | 503)[];
  /** True: takes `if-match`, and then changes only the version that it names. */
  takesVersion?: true;
  /** True: needs neither token nor session. */
  isOpen?: true;
  /** Returns the body of the answer: a value for JSON, a stream, or nothing. */
  handle(call: AdminCall<Params, Query, Body>): Promise<unknown>;
}

/** False if the route acts as well without a body. A change that names nothing to change is a mistake. */
export function needsBody({ method, body }: Pick<AdminRoute, 'method' | 'body'>): boolean {
  return body !== undefined && (method === 'PATCH' || !body.safeParse({}).success);
}

interface AdminAnswer {
  status: 200 | 201 | 204;
  /** Shape of a JSON body. */
  schema?: z.ZodType;
  /** Media types of a body that is not JSON. With `schema`: of another form, for callers that accept it. */
  types?: readonly string[];
  /** True: has an `etag`. */
  hasEtag?: true;
  /** True: the answer, and its errors, are those of an execute call. */
  isOfCall?: true;
}

export interface AdminCall<Params, Query, Body> {
  admin: Admin;
  params: Params;
  query: Query;
  body: Body;
  /** What `if-match` has. */
  tag: VersionTag | undefined;
  identity: Identity | null;
  authenticator: Authenticator;
  /** Runs a call and sends its answer. */
  execute(input: Parameters<Execute>[0]): Promise<void>;
  request: FastifyRequest;
  reply: FastifyReply;
}

const keyParams = z.object({ id: z.string() });
const approvalParams = z.object({ id: z.string() });
const instanceParams = z.object({ name: z.string() });

const subscriptionParams = z.object({ name: z.string() });

const subjectParams = z.object({ id: z.string() });

const EXPORT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' };

const EXAMINATION_ANSWER: AdminAnswer = {
  status: 200,
  schema: schemas.examination,
  types: [EXAMINATION_LINES],
};

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/keys',
    id: 'listKeys',
    summary: 'Lists client keys, oldest first.',
    query: schemas.keyQuery,
    answer: { status: 200, schema: schemas.keyPage },
    handle: ({ admin, query }) => admin.listKeys(query),
  }),
  route({
    method: 'GET',
    path: '/keys/names',
    id: 'listKeyNames',
    summary: 'Returns the names of up to 100 keys, without their policies. Unknown ids are left out.',
    query: schemas.keyNamesQuery,
    answer: { status: 200, schema: schemas.keyNames },
    handle: ({ admin, query }) => admin.listKeyNames(query.ids.split(',')),
  }),
  route({
    method: 'POST',
    path: '/keys',
    id: 'createKey',
    summary: 'Creates a key. Only this answer has its text.',
    body: schemas.keyInput,
    answer: { status: 201, schema: schemas.newKeyView, hasEtag: true },
    async handle({ admin, body, reply }) {
      const key = await admin.createKey(body);
      reply.header('location', `${ADMIN_PATH}/keys/${key.id}`);
      return key;
    },
  }),
  route({
    method: 'GET',
    path: '/keys/:id',
    id: 'getKey',
    summary: 'Returns one key.',
    params: keyParams,
    answer: { status: 200, schema: schemas.keyView, hasEtag: true },
    problems: [404],
    handle: ({ admin, params }) => admin.getKey(params.id),
  }),
  route({
    method: 'PATCH',
    path: '/keys/:id',
    id: 'updateKey',
    summary: 'Changes a key. Members that are left out keep their values.',
    params: keyParams,
    body: schemas.keyChanges,
    answer: { status: 200, schema: schemas.keyView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
    handle: ({ admin, params, body, tag }) => admin.updateKey(params.id, body, tag),
  }),
  route({
    method: 'POST',
    path: '/keys/:id/revoke',
    id: 'revokeKey',
    summary: 'Revokes a key for ever. Every replica refuses it within a second.',
    params: keyParams,
    answer: { status: 200, schema: schemas.keyView, hasEtag: true },
    problems: [404],
    handle: ({ admin, params }) => admin.revokeKey(params.id),
  }),
  route({
    method: 'POST',
    path: '/keys/:id/rotate',
    id: 'rotateKey',
    summary:
      'Creates a key with the same properties. The old key stays valid for the overlap. Refused while the new key of an earlier rotation is valid.',
    params: keyParams,
    body: schemas.keyRotation,
    answer: { status: 201, schema: schemas.newKeyView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
    async handle({ admin, params, body, tag, reply }) {
      const key = await admin.rotateKey(params.id, body, tag);
      reply.header('location', `${ADMIN_PATH}/keys/${key.id}`);
      return key;
    },
  }),
  route({
    method: 'POST',
    path: '/keys/:id/explain',
    id: 'explainCall',
    summary:
      'Tells whether the policy of the key allows a call, and which rule decides. Sends nothing to Odoo.',
    params: keyParams,
    body: schemas.explainInput,
    answer: { status: 200, schema: schemas.explanation },
    problems: [404, 409],
    handle: ({ admin, params, body }) => admin.explain(params.id, body),
  }),
  route({
    method: 'POST',
    path: '/policies/explain',
    id: 'explainPolicy',
    summary:
      'Tells whether a draft of a policy allows a call, and which rule decides. Sends nothing to Odoo.',
    body: schemas.policyExplainInput,
    answer: { status: 200, schema: schemas.explanation },
    handle: ({ admin, body }) => admin.explainPolicy(body),
  }),
  route({
    method: 'POST',
    path: '/policies/compare',
    id: 'comparePolicy',
    summary: 'Checks the calls of the audit against a draft of a policy.',
    body: schemas.policyCompareInput,
    answer: { status: 200, schema: schemas.policyComparison },
    handle: ({ admin, body, reply }) => admin.comparePolicy(body, watchCaller(reply)),
  }),
  route({
    method: 'POST',
    path: '/execute',
    id: 'executeAsAdmin',
    summary: 'Runs an execute call as a client key, or without the restrictions of a policy.',
    body: adminCall,
    rawMember: 'call',
    answer: { status: 200, schema: executeAnswer, isOfCall: true },
    problems: [404, 409, 503],
    handle: ({ execute, body }) => execute(body),
  }),
  route({
    method: 'GET',
    path: '/approvals',
    id: 'listApprovals',
    summary: 'Lists calls that need an approval, newest first, without their values.',
    query: schemas.approvalQuery,
    answer: { status: 200, schema: schemas.approvalPage },
    handle: ({ admin, query }) => admin.listApprovals(query),
  }),
  route({
    method: 'GET',
    path: '/approvals/:id',
    id: 'getApproval',
    summary: 'Returns one call that needs an approval, with its values.',
    params: approvalParams,
    answer: { status: 200, schema: schemas.approvalDetails },
    problems: [404],
    handle: ({ admin, params }) => admin.getApproval(params.id),
  }),
  route({
    method: 'POST',
    path: '/approvals/:id/approve',
    id: 'approveCall',
    summary: 'Approves a call: its caller can send it once.',
    params: approvalParams,
    answer: { status: 200, schema: schemas.approvalView },
    problems: [404, 409],
    handle: ({ admin, params }) => admin.approveCall(params.id),
  }),
  route({
    method: 'POST',
    path: '/approvals/:id/refuse',
    id: 'refuseCall',
    summary: 'Refuses a call, and deletes its values.',
    params: approvalParams,
    body: schemas.approvalRefusal,
    answer: { status: 200, schema: schemas.approvalView },
    problems: [404, 409],
    handle: ({ admin, params, body }) => admin.refuseCall(params.id, body),
  }),
  route({
    method: 'GET',
    path: '/instances',
    id: 'listInstances',
    summary: 'Lists stored instances, by name.',
    query: schemas.instanceQuery,
    answer: { status: 200, schema: schemas.instancePage },
    handle: ({ admin, query }) => admin.listInstances(query),
  }),
  route({
    method: 'POST',
    path: '/instances',
    id: 'createInstance',
    summary: 'Stores an instance: an Odoo server with a database and a user.',
    body: schemas.instanceInput,
    answer: { status: 201, schema: schemas.instanceView, hasEtag: true },
    problems: [409, 503],
    async handle({ admin, body, reply }) {
      const instance = await admin.createInstance(body);
      reply.header('location', `${ADMIN_PATH}/instances/${instance.name}`);
      return instance;
    },
  }),
  route({
    method: 'GET',
    path: '/instances/:name',
    id: 'getInstance',
    summary: 'Returns one instance.',
    params: instanceParams,
    answer: { status: 200, schema: schemas.instanceView, hasEtag: true },
    problems: [404],
    handle: ({ admin, params }) => admin.getInstance(params.name),
  }),
  route({
    method: 'PATCH',
    path: '/instances/:name',
    id: 'updateInstance',
    summary: 'Changes an instance. Members that are left out keep their values.',
    params: instanceParams,
    body: schemas.instanceChanges,
    answer: { status: 200, schema: schemas.instanceView, hasEtag: true },
    problems: [404, 409, 412, 503],
    takesVersion: true,
    handle: ({ admin, params, body, tag }) => admin.updateInstance(params.name, body, tag),
  }),
  route({
    method: 'DELETE',
    path: '/instances/:name',
    id: 'removeInstance',
    summary: 'Removes an instance. Later calls on it are refused.',
    params: instanceParams,
    answer: { status: 204 },
    problems: [404, 409, 412],
    takesVersion: true,
    handle: ({ admin, params, tag }) => admin.removeInstance(params.name, tag),
  }),
  route({
    method: 'POST',
    path: '/instances/:name/rotate-key',
    id: 'rotateInstanceKey',
    summary: 'Makes Odoo create a new key, which replaces the stored one (Odoo 19 and later).',
    params: instanceParams,
    answer: { status: 200, schema: schemas.instanceView, hasEtag: true },
    problems: [404, 409, 503],
    handle: ({ admin, params }) => admin.rotateInstanceKey(params.name),
  }),
  route({
    method: 'POST',
    path: '/instances/:name/check',
    id: 'checkInstance',
    summary: 'Checks whether calls can run on a stored instance: address, protocol, database, user and key.',
    params: instanceParams,
    answer: EXAMINATION_ANSWER,
    problems: [404, 503],
    handle: ({ admin, params, request, reply }) =>
      answerExamination((onCheck) => admin.examineInstance(params.name, onCheck), request, reply),
  }),
  route({
    method: 'POST',
    path: '/instances/check',
    id: 'checkServer',
    summary: 'Checks an Odoo server with a user that is not stored. Stores nothing.',
    body: schemas.instanceCheckInput,
    answer: EXAMINATION_ANSWER,
    handle: ({ admin, body, request, reply }) =>
      answerExamination((onCheck) => admin.examineDraft(body, onCheck), request, reply),
  }),
  route({
    method: 'GET',
    path: '/subscriptions',
    id: 'listSubscriptions',
    summary: 'Lists subscriptions, by name, without their secrets.',
    query: schemas.subscriptionQuery,
    answer: { status: 200, schema: schemas.subscriptionPage },
    handle: ({ admin, query }) => admin.listSubscriptions(query),
  }),
  route({
    method: 'POST',
    path: '/subscriptions',
    id: 'createSubscription',
    summary:
      'Creates a subscription: the changes of a model are sent to a webhook. Only this answer has its secret.',
    body: schemas.subscriptionInput,
    answer: { status: 201, schema: schemas.newSubscriptionView, hasEtag: true },
    problems: [409, 503],
    async handle({ admin, body, reply }) {
      const subscription = await admin.createSubscription(body);
      reply.header('location', `${ADMIN_PATH}/subscriptions/${subscription.name}`);
      return subscription;
    },
  }),
  route({
    method: 'GET',
    path: '/subscriptions/:name',
    id: 'getSubscription',
    summary: 'Returns one subscription.',
    params: subscriptionParams,
    answer: { status: 200, schema: schemas.subscriptionView, hasEtag: true },
    problems: [404],
    handle: ({ admin, params }) => admin.getSubscription(params.name),
  }),
  route({
    method: 'PATCH',
    path: '/subscriptions/:name',
    id: 'updateSubscription',
    summary:
      'Changes a subscription. Members that are left out keep their values. Other records, fields or another key begin anew.',
    params: subscriptionParams,
    body: schemas.subscriptionChanges,
    answer: { status: 200, schema: schemas.subscriptionView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
    handle: ({ admin, params, body, tag }) => admin.updateSubscription(params.name, body, tag),
  }),
  route({
    method: 'DELETE',
    path: '/subscriptions/:name',
    id: 'removeSubscription',
    summary: 'Removes a subscription. Nothing more of it is sent.',
    params: subscriptionParams,
    answer: { status: 204 },
    problems: [404, 409, 412],
    takesVersion: true,
    handle: ({ admin, params, tag }) => admin.removeSubscription(params.name, tag),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/pause',
    id: 'pauseSubscription',
    summary:
      'Pauses a subscription: its changes are not read, and what waits is not sent. Nothing is missed.',
    params: subscriptionParams,
    body: schemas.subscriptionPause,
    answer: { status: 200, schema: schemas.subscriptionView, hasEtag: true },
    problems: [404, 409],
    handle: ({ admin, params, body }) => admin.pauseSubscription(params.name, body),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/resume',
    id: 'resumeSubscription',
    summary: 'Continues a subscription that was paused or disabled. What waits is sent at once.',
    params: subscriptionParams,
    answer: { status: 200, schema: schemas.subscriptionView, hasEtag: true },
    problems: [404, 409],
    handle: ({ admin, params }) => admin.resumeSubscription(params.name),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/retry',
    id: 'retrySubscription',
    summary: 'Sends at once what waits for a retry, as far as its receiver takes it.',
    params: subscriptionParams,
    answer: { status: 200, schema: schemas.subscriptionView, hasEtag: true },
    problems: [404, 409],
    handle: ({ admin, params }) => admin.retrySubscription(params.name),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/rotate-secret',
    id: 'rotateSecret',
    summary:
      'Creates a new secret. The old one signs for the overlap, too. Only this answer has the new one.',
    params: subscriptionParams,
    body: schemas.secretRotation,
    answer: { status: 200, schema: schemas.newSubscriptionView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
    handle: ({ admin, params, body, tag }) => admin.rotateSecret(params.name, body, tag),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/ping',
    id: 'pingSubscription',
    summary:
      'Sends a delivery of type `ping` now. One that is taken ends the wait of the others for their retry.',
    params: subscriptionParams,
    answer: { status: 200, schema: schemas.pingView },
    problems: [404, 409, 503],
    handle: ({ admin, params }) => admin.pingSubscription(params.name),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:name/replay',
    id: 'replayDeliveries',
    summary:
      'Sends one delivery again, or the newest of each record since a time, with the same `webhook-id`.',
    params: subscriptionParams,
    body: schemas.replayInput,
    answer: { status: 200, schema: schemas.replayView },
    problems: [404, 409],
    handle: ({ admin, params, body }) => admin.replayDeliveries(params.name, body),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/:name/deliveries',
    id: 'listDeliveries',
    summary: 'Lists the deliveries of a subscription, newest first, without their content.',
    params: subscriptionParams,
    query: schemas.deliveryQuery,
    answer: { status: 200, schema: schemas.deliveryPage },
    problems: [404],
    handle: ({ admin, params, query }) => admin.listDeliveries(params.name, query),
  }),
  route({
    method: 'GET',
    path: '/denied-subjects',
    id: 'listDeniedSubjects',
    summary: 'Lists the subjects of identity providers whose tokens are refused.',
    query: schemas.pageQuery,
    answer: { status: 200, schema: schemas.deniedSubjectPage },
    handle: ({ admin, query }) => admin.listDeniedSubjects(query),
  }),
  route({
    method: 'POST',
    path: '/denied-subjects',
    id: 'denySubject',
    summary: 'Refuses all tokens of a subject, within a second.',
    body: schemas.deniedSubjectInput,
    answer: { status: 200, schema: schemas.deniedSubjectView },
    handle: ({ admin, body }) => admin.denySubject(body),
  }),
  route({
    method: 'DELETE',
    path: '/denied-subjects/:id',
    id: 'allowSubject',
    summary: 'Accepts the tokens of a denied subject again.',
    params: subjectParams,
    answer: { status: 204 },
    problems: [404],
    handle: ({ admin, params }) => admin.allowSubject(params.id),
  }),
  route({
    method: 'POST',
    path: '/vault/reseal',
    id: 'resealVault',
    summary: 'Encrypts stored keys again with the present master key, if another one encrypts them.',
    answer: { status: 200, schema: schemas.resealed },
    problems: [503],
    handle: ({ admin }) => admin.resealVault(),
  }),
  route({
    method: 'GET',
    path: '/stats',
    id: 'getStatistics',
    summary: 'Returns counts and durations of calls, by minute for a day or by hour for 30 days.',
    query: schemas.statisticsQuery,
    answer: { status: 200, schema: schemas.statisticsView },
    handle: ({ admin, query }) => admin.getStatistics(query),
  }),
  route({
    method: 'GET',
    path: '/audit',
    id: 'listAudit',
    summary: 'Lists audit records, newest first. A page may be short or empty although more follow.',
    query: schemas.auditQuery,
    answer: { status: 200, schema: schemas.auditPage },
    handle: ({ admin, query }) => admin.listAudit(query),
  }),
  route({
    method: 'GET',
    path: '/audit/export',
    id: 'exportAudit',
    summary: 'Returns all matching audit records, oldest first.',
    query: schemas.exportQuery,
    answer: { status: 200, types: Object.values(EXPORT_TYPES) },
    async handle({ admin, query: { format = 'ndjson', ...query }, reply }) {
      // Errors of the query must be thrown before the answer begins.
      const records = await awaitFirst(admin.exportAudit(query));
      reply.headers({
        'content-type': EXPORT_TYPES[format],
        'content-disposition': `attachment; filename="audit.${format}"`,
      });
      return Readable.from(formatAudit(records, format));
    },
  }),
  route({
    method: 'GET',
    path: '/audit/verify',
    id: 'verifyAudit',
    summary: 'Verifies the hash chain of the audit, and returns the first fault.',
    query: schemas.verifyQuery,
    answer: { status: 200, schema: schemas.auditVerdict },
    handle: ({ admin, query }) => admin.verifyAudit(query.head),
  }),
  route({
    method: 'GET',
    path: '/audit/:seq',
    id: 'getAuditRecord',
    summary: 'Returns one audit record.',
    params: schemas.auditParams,
    answer: { status: 200, schema: schemas.auditView },
    problems: [404],
    handle: ({ admin, params }) => admin.getAuditRecord(params.seq),
  }),
  route({
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    summary: 'Returns the state of the proxy: version, checks, audit and upstream databases.',
    answer: { status: 200, schema: schemas.statusView },
    handle: ({ admin }) => admin.status(),
  }),
  route({
    method: 'GET',
    path: '/methods',
    id: 'listMethods',
    summary: 'Lists methods of Odoo with the names of their positional arguments.',
    answer: { status: 200, schema: schemas.methodsView },
    handle: ({ admin }) => admin.listMethods(),
  }),
  route({
    method: 'GET',
    path: '/sandbox',
    id: 'getSandbox',
    summary: 'Tells whether this proxy can start a sandbox Odoo.',
    answer: { status: 200, schema: schemas.sandboxView },
    handle: ({ admin }) => admin.getSandbox(),
  }),
  route({
    method: 'POST',
    path: '/sandbox',
    id: 'startSandbox',
    summary:
      'Starts a sandbox Odoo for the life of the process, and stores it as an instance. Only after a first start on a terminal, while no instance is stored.',
    answer: { status: 201, schema: schemas.instanceView, hasEtag: true },
    problems: [404, 409, 503],
    handle: ({ admin }) => admin.startSandbox(),
  }),
  route({
    method: 'GET',
    path: '/attention',
    id: 'listAttention',
    summary: 'Lists what needs an administrator, the worst first.',
    answer: { status: 200, schema: schemas.attentionView },
    handle: ({ admin }) => admin.listAttention(),
  }),
  route({
    method: 'POST',
    path: '/session',
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
    id: 'getSession',
    summary: 'Returns how the request was authenticated.',
    answer: { status: 200, schema: schemas.sessionView },
    handle: async ({ identity }) => identity && showSession(identity),
  }),
  route({
    method: 'DELETE',
    path: '/session',
    id: 'logout',
    summary: 'Clears the cookie of the session.',
    answer: { status: 204 },
    isOpen: true,
    handle: async ({ authenticator, request, reply }) => authenticator.logout(request, reply),
  }),
];

/** Infers the types of the handler's input from the schemas of the route. */
function route<Params, Query, Body>(definition: AdminRoute<Params, Query, Body>): AdminRoute {
  return definition;
}

function showSession({ actor, expiresAt }: Identity): z.infer<typeof schemas.sessionView> {
  return { actor, expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString() };
}

/** Aborted when the caller closes its connection before the answer is sent. */
function watchCaller({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  if (raw.destroyed) left.abort();
  else raw.once('close', () => left.abort());
  return left.signal;
}

/** Resolves to the same items once the first of them was read. Rejects if that fails. */
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

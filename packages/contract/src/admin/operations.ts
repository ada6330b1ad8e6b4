/**
 * A table of the operations of `/admin/v1`. The routes of the server, their part of the OpenAPI document, the type of
 * the admin service and the client of the commands are derived from it.
 */
import type { z } from 'zod';
import type { VersionTag } from '../version-tag.ts';
import { applicationPage, applicationQuery } from './applications.ts';
import { approvalDetails, approvalPage, approvalQuery, approvalRefusal, approvalView } from './approvals.ts';
import {
  auditPage,
  auditParams,
  auditQuery,
  auditVerification,
  auditView,
  exportQuery,
  verifyQuery,
} from './audit.ts';
import { connectionPage, connectionQuery } from './connections.ts';
import {
  examination,
  instanceChanges,
  instanceCheckInput,
  instanceInput,
  instancePage,
  instanceQuery,
  instanceView,
  resealed,
} from './instances.ts';
import { jobPage, jobQuery, jobView } from './jobs.ts';
import {
  deniedSubjectInput,
  deniedSubjectPage,
  deniedSubjectView,
  keyChanges,
  keyInput,
  keyNames,
  keyNamesQuery,
  keyPage,
  keyQuery,
  keyRotation,
  keyView,
  newKeyView,
} from './keys.ts';
import { personPage } from './persons.ts';
import {
  explainInput,
  explanation,
  methodsView,
  policyCompareInput,
  policyComparison,
  policyExplainInput,
} from './policy.ts';
import type { Role } from './roles.ts';
import { pageQuery } from './schema-names.ts';
import { statisticsQuery, statisticsView } from './statistics.ts';
import { applyInput, attentionView, sandboxView, statusView } from './status.ts';
import {
  deliveryPage,
  deliveryQuery,
  newSubscriptionView,
  pingView,
  replayInput,
  replayView,
  secretRotation,
  subscriptionChanges,
  subscriptionInput,
  subscriptionPage,
  subscriptionPause,
  subscriptionQuery,
  subscriptionView,
} from './subscriptions.ts';
import { newTokenView, tokenInput, tokenPage, tokenQuery, tokenView } from './tokens.ts';

export interface AdminOperation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below `/admin/v1`. A name after a colon is a variable, which `params` may convert. */
  path: string;
  /** The lowest role that may use it. */
  role: Role;
  /** `all`: it reaches the whole proxy, and is refused to who is limited to some of the instances. */
  reach?: 'all';
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodType;
  body?: z.ZodType;
  answer: AdminAnswer;
  /** Further statuses of problems, beyond those that every operation can have. */
  problems?: readonly (404 | 409 | 412 | 503)[];
  /** True if the operation takes `if-match`, and then changes only the version of that tag. */
  takesVersion?: true;
  /** True if the operation changes nothing although its method is not GET. */
  isReadOnly?: true;
  /** Path of the created object. A name after a colon is replaced by the answer's member of that name. */
  location?: string;
}

export interface AdminAnswer {
  status: 200 | 201 | 204 | 303;
  /** Schema of a JSON body. */
  schema?: z.ZodType;
  /** Media types of a body that is not JSON. With `schema`, callers can choose between JSON and these types. */
  types?: readonly string[];
  /** True if the answer has an `etag`. */
  hasEtag?: true;
}

/** Operations by the names that they have in generated clients. */
export const OPERATIONS = {
  listKeys: {
    method: 'GET',
    path: '/keys',
    role: 'viewer',
    summary: 'Lists client keys, oldest first.',
    query: keyQuery,
    answer: { status: 200, schema: keyPage },
  },
  listKeyNames: {
    method: 'GET',
    path: '/keys/names',
    role: 'viewer',
    summary: 'Returns the names of up to 100 keys, without their policies. Unknown ids are left out.',
    query: keyNamesQuery,
    answer: { status: 200, schema: keyNames },
  },
  createKey: {
    method: 'POST',
    path: '/keys',
    role: 'operator',
    summary: 'Creates a key. Only this answer has its text.',
    body: keyInput,
    answer: { status: 201, schema: newKeyView, hasEtag: true },
    location: '/keys/:id',
  },
  getKey: {
    method: 'GET',
    path: '/keys/:id',
    role: 'viewer',
    summary: 'Returns one key.',
    answer: { status: 200, schema: keyView, hasEtag: true },
    problems: [404],
  },
  updateKey: {
    method: 'PATCH',
    path: '/keys/:id',
    role: 'operator',
    summary: 'Changes a key. Members that are left out keep their values.',
    body: keyChanges,
    answer: { status: 200, schema: keyView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
  },
  /** Revoking a revoked key again changes nothing. */
  revokeKey: {
    method: 'POST',
    path: '/keys/:id/revoke',
    role: 'operator',
    summary: 'Revokes a key for ever. Every replica refuses it within a second.',
    answer: { status: 200, schema: keyView, hasEtag: true },
    problems: [404],
  },
  rotateKey: {
    method: 'POST',
    path: '/keys/:id/rotate',
    role: 'operator',
    summary:
      'Creates a key with the same properties. The old key stays valid for the overlap. Refused while the new key of an earlier rotation is valid.',
    body: keyRotation,
    answer: { status: 201, schema: newKeyView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
    location: '/keys/:id',
  },
  explainCall: {
    method: 'POST',
    path: '/keys/:id/explain',
    role: 'viewer',
    isReadOnly: true,
    summary:
      'Tells whether the policy of the key allows a call, and which rule decides. Sends nothing to Odoo.',
    body: explainInput,
    answer: { status: 200, schema: explanation },
    problems: [404, 409],
  },
  explainPolicy: {
    method: 'POST',
    path: '/policies/explain',
    role: 'viewer',
    isReadOnly: true,
    summary:
      'Tells whether a draft of a policy allows a call, and which rule decides. Sends nothing to Odoo.',
    body: policyExplainInput,
    answer: { status: 200, schema: explanation },
  },
  /** Comparisons of all administrators run one after another. */
  comparePolicy: {
    method: 'POST',
    path: '/policies/compare',
    role: 'viewer',
    isReadOnly: true,
    summary: 'Checks the calls of the audit against a draft of a policy.',
    body: policyCompareInput,
    answer: { status: 200, schema: policyComparison },
  },
  listApprovals: {
    method: 'GET',
    path: '/approvals',
    role: 'viewer',
    summary: 'Lists calls that need an approval, newest first, without their values.',
    query: approvalQuery,
    answer: { status: 200, schema: approvalPage },
  },
  getApproval: {
    method: 'GET',
    path: '/approvals/:id',
    role: 'viewer',
    summary: 'Returns one call that needs an approval, with its values.',
    answer: { status: 200, schema: approvalDetails },
    problems: [404],
  },
  /** Approving an approved call again changes nothing; `refuseCall` likewise. */
  approveCall: {
    method: 'POST',
    path: '/approvals/:id/approve',
    role: 'approver',
    summary: 'Approves a call: its caller can send it once.',
    answer: { status: 200, schema: approvalView },
    problems: [404, 409],
  },
  refuseCall: {
    method: 'POST',
    path: '/approvals/:id/refuse',
    role: 'approver',
    summary: 'Refuses a call, and deletes its values.',
    body: approvalRefusal,
    answer: { status: 200, schema: approvalView },
    problems: [404, 409],
  },
  listClientJobs: {
    method: 'GET',
    path: '/jobs',
    role: 'viewer',
    summary: 'Lists the jobs of clients, newest first, without arguments and results.',
    query: jobQuery,
    answer: { status: 200, schema: jobPage },
  },
  getClientJob: {
    method: 'GET',
    path: '/jobs/:id',
    role: 'viewer',
    summary: 'Returns one job.',
    answer: { status: 200, schema: jobView },
    problems: [404],
  },
  /** Changes nothing for a job that was cancelled, or has ended. */
  cancelClientJob: {
    method: 'POST',
    path: '/jobs/:id/cancel',
    role: 'operator',
    summary: 'Cancels a job. A write that was sent goes on to its end.',
    answer: { status: 200, schema: jobView },
    problems: [404],
  },
  listInstances: {
    method: 'GET',
    path: '/instances',
    role: 'viewer',
    summary: 'Lists stored instances, by name.',
    query: instanceQuery,
    answer: { status: 200, schema: instancePage },
  },
  createInstance: {
    method: 'POST',
    path: '/instances',
    role: 'operator',
    summary: 'Stores an instance: an Odoo server with a database and a user.',
    body: instanceInput,
    answer: { status: 201, schema: instanceView, hasEtag: true },
    problems: [409, 503],
    location: '/instances/:name',
  },
  getInstance: {
    method: 'GET',
    path: '/instances/:name',
    role: 'viewer',
    summary: 'Returns one instance.',
    answer: { status: 200, schema: instanceView, hasEtag: true },
    problems: [404],
  },
  updateInstance: {
    method: 'PATCH',
    path: '/instances/:name',
    role: 'operator',
    summary: 'Changes an instance. Members that are left out keep their values.',
    body: instanceChanges,
    answer: { status: 200, schema: instanceView, hasEtag: true },
    problems: [404, 409, 412, 503],
    takesVersion: true,
  },
  removeInstance: {
    method: 'DELETE',
    path: '/instances/:name',
    role: 'operator',
    summary: 'Removes an instance. Later calls on it are refused.',
    answer: { status: 204 },
    problems: [404, 409, 412],
    takesVersion: true,
  },
  rotateInstanceKey: {
    method: 'POST',
    path: '/instances/:name/rotate-key',
    role: 'operator',
    summary: 'Makes Odoo create a new key, which replaces the stored one (Odoo 19 and later).',
    answer: { status: 200, schema: instanceView, hasEtag: true },
    problems: [404, 409, 503],
  },
  checkInstance: {
    method: 'POST',
    path: '/instances/:name/check',
    role: 'operator',
    isReadOnly: true,
    summary: 'Checks whether calls can run on a stored instance: address, protocol, database, user and key.',
    answer: { status: 200, schema: examination, types: ['application/x-ndjson'] },
    problems: [404, 503],
  },
  checkServer: {
    method: 'POST',
    path: '/instances/check',
    role: 'operator',
    isReadOnly: true,
    summary: 'Checks an Odoo server with a user that is not stored. Stores nothing.',
    body: instanceCheckInput,
    answer: { status: 200, schema: examination, types: ['application/x-ndjson'] },
  },
  listSubscriptions: {
    method: 'GET',
    path: '/subscriptions',
    role: 'viewer',
    summary: 'Lists subscriptions, by name, without their secrets.',
    query: subscriptionQuery,
    answer: { status: 200, schema: subscriptionPage },
  },
  createSubscription: {
    method: 'POST',
    path: '/subscriptions',
    role: 'operator',
    summary:
      'Creates a subscription: the changes of a model are sent to a webhook. Only this answer has its secret.',
    body: subscriptionInput,
    answer: { status: 201, schema: newSubscriptionView, hasEtag: true },
    problems: [409, 503],
    location: '/subscriptions/:name',
  },
  getSubscription: {
    method: 'GET',
    path: '/subscriptions/:name',
    role: 'viewer',
    summary: 'Returns one subscription.',
    answer: { status: 200, schema: subscriptionView, hasEtag: true },
    problems: [404],
  },
  updateSubscription: {
    method: 'PATCH',
    path: '/subscriptions/:name',
    role: 'operator',
    summary:
      'Changes a subscription. Members that are left out keep their values. Other records, fields or another key begin anew.',
    body: subscriptionChanges,
    answer: { status: 200, schema: subscriptionView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
  },
  removeSubscription: {
    method: 'DELETE',
    path: '/subscriptions/:name',
    role: 'operator',
    summary: 'Removes a subscription. Nothing more of it is sent.',
    answer: { status: 204 },
    problems: [404, 409, 412],
    takesVersion: true,
  },
  /** Pausing a paused subscription again changes nothing; `resumeSubscription` likewise. */
  pauseSubscription: {
    method: 'POST',
    path: '/subscriptions/:name/pause',
    role: 'operator',
    summary:
      'Pauses a subscription: its changes are not read, and what waits is not sent. Nothing is missed.',
    body: subscriptionPause,
    answer: { status: 200, schema: subscriptionView, hasEtag: true },
    problems: [404, 409],
  },
  resumeSubscription: {
    method: 'POST',
    path: '/subscriptions/:name/resume',
    role: 'operator',
    summary: 'Continues a subscription that was paused or disabled. What waits is sent at once.',
    answer: { status: 200, schema: subscriptionView, hasEtag: true },
    problems: [404, 409],
  },
  retrySubscription: {
    method: 'POST',
    path: '/subscriptions/:name/retry',
    role: 'operator',
    summary: 'Sends at once what waits for a retry, as far as its receiver takes it.',
    answer: { status: 200, schema: subscriptionView, hasEtag: true },
    problems: [404, 409],
  },
  rotateSecret: {
    method: 'POST',
    path: '/subscriptions/:name/rotate-secret',
    role: 'operator',
    summary:
      'Creates a new secret. The old one signs for the overlap, too. Only this answer has the new one.',
    body: secretRotation,
    answer: { status: 200, schema: newSubscriptionView, hasEtag: true },
    problems: [404, 409, 412],
    takesVersion: true,
  },
  pingSubscription: {
    method: 'POST',
    path: '/subscriptions/:name/ping',
    role: 'operator',
    summary:
      'Sends a delivery of type `ping` now. One that is taken ends the wait of the others for their retry.',
    answer: { status: 200, schema: pingView },
    problems: [404, 409, 503],
  },
  replayDeliveries: {
    method: 'POST',
    path: '/subscriptions/:name/replay',
    role: 'operator',
    summary:
      'Sends one delivery again, or the newest of each record since a time, with the same `webhook-id`.',
    body: replayInput,
    answer: { status: 200, schema: replayView },
    problems: [404, 409],
  },
  listDeliveries: {
    method: 'GET',
    path: '/subscriptions/:name/deliveries',
    role: 'viewer',
    summary: 'Lists the deliveries of a subscription, newest first, without their content.',
    query: deliveryQuery,
    answer: { status: 200, schema: deliveryPage },
    problems: [404],
  },
  listDeniedSubjects: {
    method: 'GET',
    path: '/denied-subjects',
    role: 'viewer',
    reach: 'all',
    summary: 'Lists the subjects of identity providers whose tokens are refused.',
    query: pageQuery,
    answer: { status: 200, schema: deniedSubjectPage },
  },
  /** Denying a denied subject again changes nothing. */
  denySubject: {
    method: 'POST',
    path: '/denied-subjects',
    role: 'admin',
    reach: 'all',
    summary: 'Refuses all tokens of a subject, within a second.',
    body: deniedSubjectInput,
    answer: { status: 200, schema: deniedSubjectView },
  },
  allowSubject: {
    method: 'DELETE',
    path: '/denied-subjects/:id',
    role: 'admin',
    reach: 'all',
    summary: 'Accepts the tokens of a denied subject again.',
    answer: { status: 204 },
    problems: [404],
  },
  listConnections: {
    method: 'GET',
    path: '/connections',
    role: 'viewer',
    summary: 'Lists which persons have connected to which instances, ordered by instance and person.',
    query: connectionQuery,
    answer: { status: 200, schema: connectionPage },
  },
  removeConnection: {
    method: 'DELETE',
    path: '/connections/:instance/:person',
    role: 'operator',
    summary:
      'Removes the connection of a person. The person must connect again before further calls; the key in Odoo stays.',
    answer: { status: 204 },
    problems: [404],
  },
  listPersons: {
    method: 'GET',
    path: '/persons',
    role: 'viewer',
    reach: 'all',
    summary: 'Lists the persons who have signed in by the identity provider of operators, ordered by id.',
    query: pageQuery,
    answer: { status: 200, schema: personPage },
  },
  /** A person without a session has none afterwards, too. */
  signOutPerson: {
    method: 'POST',
    path: '/persons/:id/sign-out',
    role: 'admin',
    reach: 'all',
    summary: 'Ends all sessions of a person, on every replica at once. The person may sign in again.',
    answer: { status: 204 },
    problems: [404],
  },
  listApplications: {
    method: 'GET',
    path: '/applications',
    role: 'viewer',
    reach: 'all',
    summary: 'Lists which applications may act as which persons, ordered by person.',
    query: applicationQuery,
    answer: { status: 200, schema: applicationPage },
  },
  withdrawApplication: {
    method: 'DELETE',
    path: '/applications/:id',
    role: 'operator',
    reach: 'all',
    summary: 'Withdraws the consent of a person to an application. Its tokens are refused within a second.',
    answer: { status: 204 },
    problems: [404],
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    role: 'admin',
    summary: 'Lists the personal tokens of operators, oldest first, without their secrets.',
    query: tokenQuery,
    answer: { status: 200, schema: tokenPage },
  },
  createToken: {
    method: 'POST',
    path: '/tokens',
    role: 'admin',
    summary: 'Creates a personal token for the admin API. Only this answer has its text.',
    body: tokenInput,
    answer: { status: 201, schema: newTokenView },
  },
  /** Revoking a revoked token again changes nothing. */
  revokeToken: {
    method: 'POST',
    path: '/tokens/:id/revoke',
    role: 'admin',
    summary: 'Revokes a personal token for ever. Every replica refuses it at once.',
    answer: { status: 200, schema: tokenView },
    problems: [404],
  },
  /** The command `apply` makes its changes by other operations, after this one. */
  beginApply: {
    method: 'POST',
    path: '/apply',
    role: 'admin',
    reach: 'all',
    summary: 'Records that a configuration file is applied. Changes nothing else.',
    body: applyInput,
    answer: { status: 204 },
  },
  resealVault: {
    method: 'POST',
    path: '/vault/reseal',
    role: 'admin',
    reach: 'all',
    summary: 'Encrypts stored keys again with the present master key, if another one encrypts them.',
    answer: { status: 200, schema: resealed },
    problems: [503],
  },
  getStatistics: {
    method: 'GET',
    path: '/stats',
    role: 'viewer',
    summary: 'Returns counts and durations of calls, by minute for a day or by hour for 30 days.',
    query: statisticsQuery,
    answer: { status: 200, schema: statisticsView },
  },
  listAudit: {
    method: 'GET',
    path: '/audit',
    role: 'viewer',
    summary: 'Lists audit records, newest first. A page may be short or empty although more follow.',
    query: auditQuery,
    answer: { status: 200, schema: auditPage },
  },
  exportAudit: {
    method: 'GET',
    path: '/audit/export',
    role: 'viewer',
    summary: 'Returns all matching audit records, oldest first.',
    query: exportQuery,
    answer: { status: 200, types: ['application/x-ndjson', 'text/csv; charset=utf-8'] },
  },
  /** `head`: the head of an earlier verification, which must still be part of the chain. */
  verifyAudit: {
    method: 'GET',
    path: '/audit/verify',
    role: 'viewer',
    reach: 'all',
    summary: 'Verifies the hash chain of the audit, and returns the first fault.',
    query: verifyQuery,
    answer: { status: 200, schema: auditVerification },
  },
  getAuditRecord: {
    method: 'GET',
    path: '/audit/:seq',
    role: 'viewer',
    summary: 'Returns one audit record.',
    params: auditParams,
    answer: { status: 200, schema: auditView },
    problems: [404],
  },
  getStatus: {
    method: 'GET',
    path: '/status',
    role: 'viewer',
    summary: 'Returns the state of the proxy: version, checks, audit and upstream databases.',
    answer: { status: 200, schema: statusView },
  },
  listMethods: {
    method: 'GET',
    path: '/methods',
    role: 'viewer',
    summary: 'Lists methods of Odoo with the names of their positional arguments.',
    answer: { status: 200, schema: methodsView },
  },
  getSandbox: {
    method: 'GET',
    path: '/sandbox',
    role: 'viewer',
    summary: 'Tells whether this proxy can start a sandbox Odoo.',
    answer: { status: 200, schema: sandboxView },
  },
  startSandbox: {
    method: 'POST',
    path: '/sandbox',
    role: 'admin',
    reach: 'all',
    summary:
      'Starts a sandbox Odoo for the life of the process, and stores it as an instance. Only after a first start on a terminal, while no instance is stored.',
    answer: { status: 201, schema: instanceView, hasEtag: true },
    problems: [404, 409, 503],
  },
  listAttention: {
    method: 'GET',
    path: '/attention',
    role: 'viewer',
    summary: 'Lists what needs an administrator, the worst first.',
    answer: { status: 200, schema: attentionView },
  },
} as const satisfies Record<string, AdminOperation>;

type Operations = typeof OPERATIONS;
type Parameter<Path> = Path extends `${string}:seq`
  ? [seq: number]
  : Path extends `${string}:${string}:${string}`
    ? [name: string, other: string]
    : Path extends `${string}:${string}`
      ? [name: string]
      : [];
type Query<Operation> = Operation extends { query: z.ZodType<infer Value> } ? [query: Value] : [];
type Body<Operation> = Operation extends { body: z.ZodType<infer Value> } ? [body: Value] : [];
type Tag<Operation> = Operation extends { takesVersion: true } ? [tag?: VersionTag] : [];
type Answer<Operation> = Operation extends { answer: { schema: z.ZodType<infer Value> } }
  ? Promise<Value>
  : Promise<void>;

/**
 * A function for each operation. Its parameters are the variable part of the path, the query or body, and the version
 * to change.
 */
export type AdminOperations = {
  [Id in keyof Operations]: (
    ...given: [
      ...Parameter<Operations[Id]['path']>,
      ...Query<Operations[Id]>,
      ...Body<Operations[Id]>,
      ...Tag<Operations[Id]>,
    ]
  ) => Answer<Operations[Id]>;
};

/**
 * The operations, side by side: how a call of each is parsed, authorized, resolved and built, and the steps around
 * sending it, in their order. run-request.ts receives the request, and run-call.ts runs each of its calls.
 */

import type { Events } from '@erp-proxy/observe/events';
import { classifyFault } from '@erp-proxy/odoo/faults';
import { applyFieldRules, applyFieldRulesToJson2 } from './call/apply-field-rules.ts';
import { applyRelatedRules } from './call/apply-related-rules.ts';
import { authorizeVersionQuestion } from './call/authorize.ts';
import { checkQuery } from './call/check-query.ts';
import { convertValues, hasValues } from './call/convert-values.ts';
import type { Call } from './call/parse.ts';
import { buildJson2Call, type Json2Call, readJson2Arguments } from './call/parse-json2.ts';
import type { PreparedVersionQuestion, VersionQuestion } from './call/parse-version-question.ts';
import { nameTarget, type ResolveDeps, resolveServer, resolveTarget } from './call/resolve.ts';
import { createNameConcerned } from './read-as-caller.ts';
import { runSteps } from './run-call.ts';
import { type AskedRequest, type RunRequestDeps, runRequest } from './run-request.ts';
import type { CallContext } from './terms/call-context.ts';
import { Denial } from './terms/denial.ts';
import type { TargetedCall, UpstreamCall } from './terms/method-call.ts';
import type { Operation, Step } from './terms/operation.ts';
import type { Reply } from './terms/reply.ts';
import type { ServerAddress, Target } from './terms/target.ts';
import * as largeCalls from './thread/large-calls.ts';
import {
  type AddNearestNamesDeps,
  addNearestNames,
  type NamingCall,
  suggestNames,
} from './upstream/add-nearest-names.ts';
import {
  type ApprovalDeps,
  claimApproval,
  createNeedsConfirmation,
  requireApproval,
} from './upstream/approval.ts';
import type { RunQuestion } from './upstream/ask-server.ts';
import { type AskVersionDeps, askJsonVersion, askVersion } from './upstream/ask-version.ts';
import {
  type CheckCredentialsDeps,
  type CredentialRules,
  checkCredentials,
} from './upstream/check-credentials.ts';
import { convertReading } from './upstream/convert-reading.ts';
import { cutDefaults } from './upstream/cut-defaults.ts';
import { type DeferCallDeps, deferCall, markSent } from './upstream/defer-call.ts';
import { followUp } from './upstream/follow-up.ts';
import { handleNonNumbers } from './upstream/handle-non-numbers.ts';
import { claimIdempotencyKey, type IdempotencyDeps, replayAnswer } from './upstream/idempotency.ts';
import type { NameSources } from './upstream/known-names.ts';
import { createOrderFinder, type OrderFinderDeps } from './upstream/known-orders.ts';
import { createFieldFinder, type FieldFinderDeps } from './upstream/model-fields.ts';
import { type ObtainPermitDeps, obtainPermit } from './upstream/obtain-permit.ts';
import type { ReceiveSettings } from './upstream/receive.ts';
import { type SendWithRetriesDeps, sendWithRetries } from './upstream/retry.ts';
import { type MethodDeps, type SendJson2Deps, sendJson2, sendMethod } from './upstream/send-call.ts';
import { type ReportWriteDeps, reportWrite, type ShareReadDeps, shareRead } from './upstream/share-read.ts';

export interface OperationDeps
  extends RunRequestDeps,
    ResolveDeps,
    ShareReadDeps,
    IdempotencyDeps,
    ApprovalDeps,
    DeferCallDeps,
    CheckCredentialsDeps,
    ObtainPermitDeps,
    ReportWriteDeps,
    SendWithRetriesDeps,
    MethodDeps,
    SendJson2Deps,
    AskVersionDeps,
    FieldFinderDeps,
    OrderFinderDeps,
    AddNearestNamesDeps {
  events: Events;
  settings: RunRequestDeps['settings'] & ReceiveSettings;
}

export type OperationName = 'execute' | 'json2' | 'version' | 'jsonVersion';

/** Runs a request, as {@link runRequest}. Default of `operation`: `execute`. */
export type RunRequest = <Result = null>(
  asked: AskedRequest<Result> & { operation?: OperationName },
) => Promise<Denial | Result>;

export function createRunRequest(deps: OperationDeps): RunRequest {
  const operations: Record<OperationName, Operation> = createOperations(deps);
  return ({ operation = 'execute', ...asked }) => runRequest(operations[operation], asked, deps);
}

export function createOperations(deps: OperationDeps) {
  return {
    execute: createExecute(deps),
    json2: createJson2(deps),
    version: createVersion(deps),
    jsonVersion: createJsonVersion(deps),
  };
}

/** Calls a method of a model over a protocol of the server: `POST /api/erp/execute`. */
function createExecute(deps: OperationDeps): Operation<Call, Target, TargetedCall> {
  const send = sendWithRetries(sendMethod(deps), deps);
  const questionSteps = [checkCredentials(jsonrpcRules(deps), deps), obtainPermit(deps), send];
  const run: RunQuestion = (question, context) => runSteps(questionSteps, question, context);
  const fields = createFieldFinder(deps, run);
  const orders = createOrderFinder(deps, run);
  const suggest = createSuggest(deps, { fields, run });
  const approve = requireApproval<TargetedCall>(
    {
      operation: 'execute',
      readArguments: (call) => call,
      nameConcerned: createNameConcerned({ ...deps, fields, orders, run }),
      needsConfirmation: createNeedsConfirmation(fields),
    },
    deps,
  );
  return {
    name: 'execute',
    takesBatch: true,
    isAddressInBody: false,
    parse: largeCalls.parseCall,
    authorize: largeCalls.authorizeCall,
    nameTarget: ({ instance }) => nameTarget(instance, deps),
    resolve: ({ instance }, client) => resolveTarget(instance, client, deps),
    hasValues,
    async convertValues(call, target, context) {
      const converted = await convertValues(call, target, context, fields);
      return await suggest(converted, { ...call, target }, context);
    },
    async applyFieldRules(call, target, context) {
      const applied = await applyFieldRules(call, target, context, { fields, orders });
      return await suggest(applied, { ...call, target }, context);
    },
    applyRelatedRules: (call, target, context) =>
      applyRelatedRules(
        (policy, learnt) => largeCalls.checkRelatedCall(call, policy, learnt, context.time.signal),
        target,
        context,
        fields,
      ),
    checkQuery: (call, target, context) =>
      checkQuery(
        call,
        () => largeCalls.listCallFields(call, 'read', context.time.signal),
        target,
        context,
        fields,
      ),
    findFields: ({ model }, target, names, context) => fields.find({ target, model }, names, context),
    build: largeCalls.buildMethodCall,
    steps: [
      applyInstanceTimeout,
      addNearestNames(deps, { fields, run }),
      convertReading(fields),
      handleNonNumbers(deps),
      shareRead(deps),
      replayAnswer('execute', deps),
      approve,
      deferCall(deps),
      checkCredentials(jsonrpcRules(deps), deps),
      obtainPermit(deps),
      claimIdempotencyKey(deps),
      claimApproval(),
      markSent(),
      reportWrite(deps),
      cutDefaults(deps),
      send,
    ],
    followUpSteps: [
      applyInstanceTimeout,
      addNearestNames(deps, { fields, run }),
      approve,
      deferCall(deps),
      checkCredentials(jsonrpcRules(deps), deps),
      obtainPermit(deps),
      followUp(send, deps),
      send,
    ],
  };
}

/** Adds near names to a reply that precedes the steps. */
function createSuggest(deps: AddNearestNamesDeps, sources: NameSources) {
  return async <Applied extends object>(
    applied: Applied | { reply: Reply },
    call: NamingCall,
    context: CallContext,
  ): Promise<Applied | { reply: Reply }> =>
    'reply' in applied ? { reply: await suggestNames(applied.reply, call, context, deps, sources) } : applied;
}

/** Passes a call of `/json/2` on unchanged. */
function createJson2(deps: OperationDeps): Operation<Json2Call, Target, UpstreamCall> {
  const questionSteps = [
    checkCredentials(JSON2_RULES, deps),
    obtainPermit(deps),
    sendWithRetries(sendJson2(deps), deps),
  ];
  const run: RunQuestion = async (question, context) => {
    const bytes = question.keyword;
    const kwargs = { span: { kind: 'object' as const, start: 0, end: bytes.length }, members: [] };
    const call = buildJson2Call({ ...question, bytes, kwargs }, question.target);
    return call instanceof Denial ? call : await runSteps(questionSteps, call, context);
  };
  const fields = createFieldFinder(deps, run);
  const orders = createOrderFinder(deps, run);
  const suggest = createSuggest(deps, { fields, run });
  return {
    name: 'json2',
    takesBatch: false,
    isAddressInBody: false,
    parse: largeCalls.parseJson2Call,
    authorize: largeCalls.authorizeJson2Call,
    nameTarget: ({ instance }) => nameTarget(instance, deps),
    resolve: ({ instance }, client) => resolveTarget(instance, client, deps),
    async applyFieldRules(call, target, context) {
      const applied = await applyFieldRulesToJson2(call, target, context, { fields, orders });
      return await suggest(applied, { ...call, target }, context);
    },
    applyRelatedRules: (call, target, context) =>
      applyRelatedRules(
        (policy, learnt) => largeCalls.checkRelatedJson2Call(call, policy, learnt, context.time.signal),
        target,
        context,
        fields,
      ),
    checkQuery: (call, target, context) =>
      checkQuery(
        call,
        () => largeCalls.listJson2Fields(call, 'read', context.time.signal),
        target,
        context,
        fields,
      ),
    build: async (call, target) => buildJson2Call(call, target),
    steps: [
      applyInstanceTimeout,
      addNearestNames(deps, { fields, run }),
      handleNonNumbers(deps),
      replayAnswer('json2', deps),
      requireApproval(
        {
          operation: 'json2',
          readArguments: readJson2Arguments,
          nameConcerned: createNameConcerned({ ...deps, fields, orders, run }),
        },
        deps,
      ),
      checkCredentials(JSON2_RULES, deps),
      obtainPermit(deps),
      claimIdempotencyKey(deps),
      claimApproval(),
      reportWrite(deps),
      cutDefaults(deps),
      sendWithRetries(sendJson2(deps), deps),
    ],
  };
}

/** Returns the version of a server: `POST /api/erp/version`. */
function createVersion(
  deps: OperationDeps,
): Operation<VersionQuestion, ServerAddress, PreparedVersionQuestion> {
  return { ...describeVersionOperation('version', deps), steps: [askVersion(deps)] };
}

/** Returns the content of `/json/version` of a server. */
function createJsonVersion(
  deps: OperationDeps,
): Operation<VersionQuestion, ServerAddress, PreparedVersionQuestion> {
  return { ...describeVersionOperation('json version', deps), steps: [askJsonVersion(deps)] };
}

function describeVersionOperation(
  name: string,
  { egress }: OperationDeps,
): Omit<Operation<VersionQuestion, ServerAddress, PreparedVersionQuestion>, 'steps'> {
  return {
    name,
    takesBatch: false,
    isAddressInBody: true,
    parse: (bytes, call, _dialect, signal) => largeCalls.parseVersionQuestion(bytes, call, signal),
    authorize: async (question, client) => authorizeVersionQuestion(question, client),
    nameTarget: async ({ address }) => address,
    resolve: async ({ url }) => resolveServer(url, egress),
    build: async (_question, server) => ({ server, isReadOnly: true }),
  };
}

/** Versions before 16 lock out addresses after wrong credentials. Only `/jsonrpc` reaches them. */
function jsonrpcRules({ servers, protocolFor }: OperationDeps): CredentialRules {
  return {
    refusedBefore: REFUSED_OVER_JSONRPC,
    findLockout: (target) => (protocolFor(target) === 'json2' ? 'none' : servers.findLockout(target)),
  };
}

/** Odoo's own text, the same in every version. */
const REFUSED_OVER_JSONRPC: Reply = {
  kind: 'fault',
  fault: classifyFault(
    {
      code: 200,
      message: 'Odoo Server Error',
      data: {
        name: 'odoo.exceptions.AccessDenied',
        message: 'Access Denied',
        arguments: ['Access Denied'],
        context: {},
      },
    },
    { debug: false, secrets: [] },
  ),
};

const JSON2_RULES: CredentialRules = {
  refusedBefore: {
    kind: 'fault',
    fault: {
      code: 401,
      message: 'Invalid apikey',
      data: {
        type: 'access_denied',
        retryable: false,
        name: 'werkzeug.exceptions.Unauthorized',
        message: 'Invalid apikey',
        arguments: ['Invalid apikey', 401],
        context: {},
        status: 401,
      },
    },
  },
  findLockout: () => 'none',
};

/** Step: applies the time limit of the stored instance, if it has one. */
const applyInstanceTimeout: Step<{ isReadOnly: boolean; target: Target }> =
  async function applyInstanceTimeout({ target }, context, next) {
    const timeoutMs = target.instance?.timeoutMs ?? null;
    if (timeoutMs !== null) context.time.allow(timeoutMs, context.request.isBatch);
    return await next(context);
  };

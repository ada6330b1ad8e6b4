/**
 * Runs one call of a request, from its bytes to its record: parses, authorizes, resolves and builds it, runs the steps
 * of its operation (operations.ts), and sends its reply.
 */

import { nameActor } from '@erp-proxy/contract';
import type { CallRecord, Events } from '@erp-proxy/observe/events';
import { hasSameFieldRules } from './call/apply-field-rules.ts';
import { hasSameModels } from './call/apply-related-rules.ts';
import { authorizeActor, authorizeCaller, authorizeData, authorizeFleet } from './call/authorize.ts';
import { type CheckDeps, isSameCall, isUnchanged, renewClient } from './call/check-again.ts';
import { readBaseUrl } from './call/read-members.ts';
import { answerCall, answerInternal } from './request/answer.ts';
import { findTraceId } from './request/start-traced.ts';
import { type CallContext, type CallTrace, copyCall, unlessChanged } from './terms/call-context.ts';
import { Denial } from './terms/denial.ts';
import type { FoundTypes } from './terms/field-finder.ts';
import type { AnyPrepared, Operation, ValuesState } from './terms/operation.ts';
import type { AnyParsed } from './terms/parsed-body.ts';
import { type AnswerSummary, checkAttempt, type Reply } from './terms/reply.ts';
import type { ServerAddress, Target } from './terms/target.ts';
import { CHANGED, denyEndedUnsent } from './terms/upstream-denials.ts';
import { TaskAborted } from './thread/run-in-thread.ts';

export interface RunCallDeps extends CheckDeps {
  events: Events;
  settings: { answerBytesPerSecondMin: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** Never rejects: an exception is answered as an error of this call alone. */
export async function runCall(operation: Operation, call: CallContext, deps: RunCallDeps): Promise<void> {
  let attempt = call;
  let summary = await runAttempt(operation, attempt, deps);
  while (summary === null) {
    attempt = copyCall(attempt);
    summary = await runAttempt(operation, attempt, deps);
  }
  recordCall(attempt, summary, deps.nowMs(), deps.events);
}

/** Null if the key, policy or instance of the call changed while it waited: it starts over. */
async function runAttempt(
  operation: Operation,
  context: CallContext,
  deps: RunCallDeps,
): Promise<AnswerSummary | null> {
  const { request, held } = context;
  try {
    const reply = await findReply(operation, context, deps);
    if (reply !== CHANGED) return await sendAnswer(reply, context, deps);
    // Nothing was run, or Odoo rolled it back.
    await context.protection?.finish('not_run');
    return null;
  } catch (error) {
    deps.events.faultSeen(request.exchange.requestId, error);
    const summary = answerInternal(context.id, context.writer, request.dialect);
    await context.protection?.finish('unknown');
    return summary;
  } finally {
    held.dispose();
  }
}

/** A large call whose time passes before the thread has checked it was not sent. */
async function findReply(operation: Operation, context: CallContext, deps: RunCallDeps): Promise<Reply> {
  try {
    const allowed = await allowCall(operation, context, deps);
    return allowed instanceof Denial ? allowed : await sendCall(operation, allowed, context, deps);
  } catch (error) {
    if (error instanceof TaskAborted) return denyEndedUnsent(context.time.deadline, { isReadOnly: false });
    throw error;
  }
}

/** A call that the policy allows, and its server. */
interface AllowedCall {
  /** The call before the policy set values in it. */
  asked: AnyParsed;
  call: AnyParsed;
  values: ValuesState;
  server: ServerAddress | Target;
}

/** Parses the call, applies the policy of its key as it is now, and finds its server. */
async function allowCall(
  operation: Operation,
  context: CallContext,
  deps: RunCallDeps,
): Promise<AllowedCall | Denial> {
  const { trace, time } = context;
  const asked = context.parsed ?? (await parse(operation, context));
  if (asked instanceof Denial) return asked;
  const denied = await renew(context, deps);
  if (denied !== null) return denied;
  const isConverted = context.areValuesNormalized && operation.convertValues !== undefined;
  const values = isConverted ? 'unconverted' : 'sent';
  const call = await operation.authorize(asked, context.client, values, time.signal);
  trace.policyLimit = (call instanceof Denial ? undefined : call.policyLimit) ?? null;
  if (call instanceof Denial) {
    trace.target = await operation.nameTarget(asked);
    return call;
  }
  const beyond =
    authorizeActor(call, context.request.actor) ?? authorizeFleet(call, context.client, context.request);
  if (beyond !== null) return beyond;
  const server = await operation.resolve(call, context.client);
  if (server instanceof Denial) return server;
  trace.target = nameServer(server);
  trace.connection = findTarget(server)?.connection ?? null;
  const allowed: AllowedCall = { asked, call, values, server };
  setAllowed(operation, allowed, context, deps);
  return allowed;
}

async function parse(operation: Operation, context: CallContext): Promise<AnyParsed | Denial> {
  const { body, span, request, time } = context;
  const { id, call } = await operation.parse(body, span, request.dialect, time.signal);
  context.id = id;
  if (!(call instanceof Denial)) context.parsed = call;
  return call;
}

/** Reads key and policy again. */
async function renew(context: CallContext, deps: RunCallDeps): Promise<Denial | null> {
  const { client, request, data } = context;
  const now = await renewClient(client, deps, request.dialect);
  if (now instanceof Denial) return now;
  if (now === client) return null;
  context.client = now;
  return authorizeCaller(now, request.exchange) ?? authorizeData(now, data);
}

/** Sets what follows from the decision of the policy, for the steps around sending. */
function setAllowed(
  operation: Operation,
  { asked, call, values, server }: AllowedCall,
  context: CallContext,
  deps: RunCallDeps,
): void {
  const { client, request, time, data } = context;
  const target = findTarget(server);
  const built = {
    client,
    isSameFor: async (other: typeof client) =>
      authorizeData(other, data) === null &&
      hasSameFieldRules(client, other, call.method) &&
      authorizeFleet(call, other, request) === null &&
      (call.lacksTypes === undefined || hasSameModels(client, other)) &&
      isSameCall(await operation.authorize(asked, other, values, time.signal), call),
    resolved: target && call.instance !== undefined ? { named: call.instance, target } : null,
  };
  context.isUnchanged = () => isUnchanged(built, request, deps);
  context.approvalRule = call.approvalRule ?? null;
}

/** Converts, checks and builds what is sent, and runs the steps of the operation. */
async function sendCall(
  operation: Operation,
  allowed: AllowedCall,
  context: CallContext,
  deps: RunCallDeps,
): Promise<Reply> {
  const { request, client, time, refusal } = context;
  const { server } = allowed;
  if (refusal !== undefined) return refusal;
  let { call } = allowed;
  if (allowed.values === 'unconverted') {
    const converted = await convertValues(operation, allowed, context, deps);
    if ('reply' in converted) return converted.reply;
    call = converted.call;
  }
  if (operation.applyFieldRules !== undefined && client.policy !== null) {
    const applied = await operation.applyFieldRules(call, server, context);
    if ('reply' in applied) return await unlessChanged(context, applied.reply);
    call = applied.call;
  }
  const refused = (await operation.checkQuery?.(call, server, context)) ?? null;
  if (refused !== null) return await unlessChanged(context, refused);
  if (call.lacksTypes === true) {
    const applied = await operation.applyRelatedRules!(call, server, context);
    if ('reply' in applied) return await unlessChanged(context, applied.reply);
    context.approvalRule ??= applied.approvalRule;
  }
  const prepared = await operation.build(call, server, request.dialect, time.signal);
  if (prepared instanceof Denial) return prepared;
  context.isReadOnly = prepared.isReadOnly;
  const steps = context.followUp === undefined ? operation.steps : operation.followUpSteps;
  if (steps === undefined) throw new Error('calls of this operation have no follow-up');
  return await runSteps(steps, prepared, context);
}

/** Converts the values of a call, and applies the policy to those that are sent. */
async function convertValues(
  operation: Operation,
  { asked: unconverted, server }: AllowedCall,
  context: CallContext,
  deps: RunCallDeps,
): Promise<{ call: AnyParsed } | { reply: Reply }> {
  const converted = await operation.convertValues!(unconverted, server, context);
  if (!(await context.isUnchanged())) return { reply: CHANGED };
  const asked = 'reply' in converted ? unconverted : converted.call;
  const call = await operation.authorize(asked, context.client, 'sent', context.time.signal);
  // What the conversion refuses would tell types of fields that the key may not write.
  if (call instanceof Denial) return { reply: call };
  if ('reply' in converted) return converted;
  setAllowed(operation, { asked, call, values: 'sent', server }, context, deps);
  return { call };
}

/** Sends the reply. With an idempotency key, the answer ends when the outcome is stored. */
async function sendAnswer(reply: Reply, context: CallContext, deps: RunCallDeps): Promise<AnswerSummary> {
  const { id, request, protection, isReadOnly } = context;
  context.writer = protection?.record(context.writer) ?? context.writer;
  const summary = await answerCall(reply, {
    id,
    writer: context.writer,
    deadline: request.time.deadline,
    isReadOnly,
    headers: context.describe(context.trace),
    dialect: request.dialect,
    bytesPerSecondMin: deps.settings.answerBytesPerSecondMin,
  });
  await protection?.finish(checkAttempt(reply, summary));
  return summary;
}

/**
 * Why a call would be refused whatever its server, or the call as its policy allows it. It is not sent and not
 * recorded.
 */
export async function decideCall(operation: Operation, call: CallContext): Promise<AnyParsed | Denial> {
  const { client, request, time } = call;
  const asked = await parse(operation, call);
  if (asked instanceof Denial) return asked;
  const isConverted = call.areValuesNormalized && operation.convertValues !== undefined;
  const values = isConverted ? 'unconverted' : 'sent';
  const allowed = await operation.authorize(asked, client, values, time.signal);
  return allowed instanceof Denial ? allowed : (authorizeFleet(allowed, client, request) ?? allowed);
}

/**
 * Finds the types of the fields of the model of a call, which is not sent. `names`: fields that it names. Null if the
 * call would be refused before it is sent.
 */
export async function findFields(
  operation: Operation,
  call: CallContext,
  names: readonly string[],
  deps: RunCallDeps,
): Promise<FoundTypes | null> {
  for (let context = call; ; context = copyCall(context)) {
    const allowed = await allowCall(operation, context, deps);
    if (allowed instanceof Denial || operation.findFields === undefined) return null;
    const found = await operation.findFields(allowed.call, allowed.server, names, context);
    if (!('failed' in found) || found.failed !== CHANGED) return found;
  }
}

/** Null for a server without a database. */
function findTarget(server: ServerAddress | Target): Target | null {
  return 'credentialsId' in server ? server : null;
}

/** Server and database for the record, which must not have the credentials. */
function nameServer(server: ServerAddress | Target): CallTrace['target'] {
  const { origin, pathPrefix } = server;
  return 'credentialsId' in server ? { origin, pathPrefix, db: server.db } : { origin, pathPrefix };
}

/** Runs the step at `index` for one call, which runs those after it. The last one replies. */
export function runSteps(
  steps: Operation['steps'],
  call: AnyPrepared,
  context: CallContext,
  index = 0,
): Promise<Reply> {
  return steps[index]!(call, context, (current) => runSteps(steps, call, current, index + 1));
}

/**
 * Step: emits the event for the end of a call. It contains no values, keys or tracebacks. Every attempt to run a call
 * has the key with which the request came.
 */
function recordCall(
  { request, trace, index, id, parsed: call }: CallContext,
  summary: AnswerSummary,
  endedMs: number,
  events: Events,
): void {
  const { exchange, actor, via, isBatch, client } = request;
  const { key } = client!;
  const target = trace.target ?? findNamedTarget(call);
  const { traced, traceparent, connection } = trace;
  const traceId = traced?.traceId ?? (traceparent === null ? null : findTraceId(traceparent));
  const record: CallRecord = {
    requestId: exchange.requestId,
    keyId: key.id,
    clientId: key.clientId,
    address: (actor ?? exchange).address,
    batchIndex: isBatch ? index : null,
    id: Buffer.from(id.buffer, id.byteOffset, id.length).toString(),
    instance: call?.instance !== undefined && 'name' in call.instance ? call.instance.name : null,
    upstream: target === null ? null : target.origin + target.pathPrefix,
    db: target?.db ?? null,
    model: call?.model ?? null,
    method: call?.method ?? null,
    outcome: summary.type,
    code: summary.code,
    rule: summary.rule ?? null,
    approval: trace.approval,
    via,
    ...(actor === null ? null : { actor: nameActor(actor) }),
    ...(connection === null ? null : { person: connection.person, odooLogin: connection.login }),
    ...(traceId === null ? null : { traceId }),
    httpStatus: summary.httpStatus,
    protocol: trace.protocol,
    upstreamStatus: trace.upstreamStatus,
    attempts: trace.attempts,
    sharedFrom: trace.sharedFrom,
    totalMs: endedMs - trace.startedMs,
    upstreamMs: trace.sentMs === null ? null : (trace.answeredMs ?? endedMs) - trace.sentMs,
    detail: summary.detail ?? null,
  };
  events.callEnded(record);
  trace.traced?.end(record, endedMs);
}

/**
 * For a call that was refused before its server was resolved. The path is left out, because it can contain anything.
 */
function findNamedTarget(call: AnyParsed | null): CallTrace['target'] {
  if (call?.address !== undefined) return call.address;
  if (call?.instance === undefined || 'name' in call.instance) return null;
  const address = readBaseUrl(call.instance.url);
  return address instanceof Denial ? null : { ...address, pathPrefix: '', db: call.instance.db };
}

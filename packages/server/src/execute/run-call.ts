/**
 * Runs one call of a request, from its bytes to its record: parses, authorizes, resolves and builds it, runs the steps
 * of its operation (operations.ts), and sends its reply.
 */

import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import type { Client } from '../keys/keys.ts';
import type { Events } from '../observe/events.ts';
import { hasSameFieldRules } from './call/apply-field-rules.ts';
import { hasSameModels } from './call/apply-related-rules.ts';
import { authorizeCaller, authorizeData } from './call/authorize.ts';
import { type CheckDeps, isSameCall, isUnchanged } from './call/check-again.ts';
import { renewClient } from './call/renew-client.ts';
import { answerCall, answerInternal } from './request/answer.ts';
import { recordCall } from './request/record.ts';
import { runSteps } from './run-steps.ts';
import type { AnswerSummary } from './terms/answer-summary.ts';
import { CallContext } from './terms/call-context.ts';
import { type CallTrace, startTrace } from './terms/call-trace.ts';
import { Denial, INTERNAL } from './terms/denial.ts';
import type { FoundTypes } from './terms/field-finder.ts';
import type { AnyParsed, Operation, ValuesState } from './terms/operation.ts';
import { type Body, type CallSpan, NULL_ID, type ParsedCall } from './terms/parsed-body.ts';
import type { Reply } from './terms/reply.ts';
import type { Request } from './terms/request.ts';
import type { ServerAddress, Target } from './terms/target.ts';
import { CHANGED, denyEndedUnsent } from './terms/upstream-denials.ts';
import { TaskAborted } from './thread/run-in-thread.ts';
import { checkAttempt } from './upstream/check-attempt.ts';

export interface RunCallDeps extends CheckDeps {
  events: Events;
  settings: { answerBytesPerSecondMin: number };
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** One call of the body, and where its answer goes. */
export interface CallOfBody {
  body: Body;
  index: number;
  writer: AnswerWriter;
  /** Headers of its answer. */
  describe: (trace: CallTrace) => AnswerHeaders;
}

/** A running call: what stays the same when it starts over, and the context of the current attempt. */
interface RunningCall {
  operation: Operation;
  request: Request;
  index: number;
  bytes: Uint8Array;
  trace: CallTrace;
  deps: RunCallDeps;
  /** Set once the call is parsed. */
  read: ParsedCall<AnyParsed>;
  /** Null until the call is authorized. Always released at the end. */
  context: CallContext | null;
  isReadOnly: boolean;
}

/** Never rejects: an exception is answered as an error of this call alone. */
export async function runCall(
  operation: Operation,
  { body, index, writer, describe }: CallOfBody,
  client: Client,
  request: Request,
  deps: RunCallDeps,
): Promise<void> {
  const { exchange, time, dialect, isBatch } = request;
  const { traceparent, traced } = request;
  const startedMs = isBatch ? deps.nowMs() : request.startedMs;
  const trace = startTrace(startedMs, traceparent, traced?.startCall(startedMs, traceparent));
  const span = body.calls[index]!;
  const bytes = body.bytes.subarray(span.span.start, span.span.end);
  const running: RunningCall = {
    operation,
    request,
    index,
    bytes,
    trace,
    deps,
    read: { id: NULL_ID, call: INTERNAL },
    context: null,
    isReadOnly: false,
  };
  let out = writer;
  let summary: AnswerSummary;
  try {
    const reply = await runInTime(span, body, client, running);
    const protection = findProtection(running);
    out = protection?.record(writer) ?? writer;
    summary = await answerCall(reply, {
      id: running.read.id,
      writer: out,
      deadline: time.deadline,
      isReadOnly: running.isReadOnly,
      headers: describe(trace),
      dialect,
      bytesPerSecondMin: deps.settings.answerBytesPerSecondMin,
    });
    if (protection !== null) await protection.finish(checkAttempt(reply, summary));
  } catch (error) {
    deps.events.faultSeen(exchange.requestId, error);
    summary = answerInternal(running.read.id, out, dialect);
    await findProtection(running)?.finish('unknown');
  } finally {
    releaseContext(running);
  }
  const more = {
    requestId: exchange.requestId,
    keyId: client.key.id,
    clientId: client.key.clientId,
    address: (request.actor ?? exchange).address,
    batchIndex: isBatch ? index : null,
    via: request.via,
    ...(request.actor === null ? null : { actor: request.actor.name }),
    endedMs: deps.nowMs(),
  };
  recordCall(deps.events, more, running.read, trace, summary);
}

/**
 * Finds the types of the fields of the model of a call, which is not sent. `names`: fields that it names. Null if the
 * call would be refused before it is sent.
 */
export async function findFields(
  operation: Operation,
  { body, index }: Pick<CallOfBody, 'body' | 'index'>,
  names: readonly string[],
  client: Client,
  request: Request,
  deps: RunCallDeps,
): Promise<FoundTypes | null> {
  const { time, dialect } = request;
  const span = body.calls[index]!;
  const read = await operation.parse(body.bytes, span, dialect, time.signal);
  const { call } = read;
  if (call instanceof Denial || operation.findFields === undefined) return null;
  const running: RunningCall = {
    operation,
    request,
    index,
    bytes: body.bytes.subarray(span.span.start, span.span.end),
    trace: startTrace(deps.nowMs(), request.traceparent, undefined),
    deps,
    read,
    context: null,
    isReadOnly: true,
  };
  let current = client;
  for (;;) {
    const renewed = await renewAndAuthorize(current, running);
    if (renewed instanceof Denial) return null;
    current = renewed;
    const allowed = await operation.authorize(call, current, 'sent', time.signal);
    if (allowed instanceof Denial) return null;
    const server = await operation.resolve(allowed);
    if (server instanceof Denial) return null;
    const context = createContext({ asked: call, call: allowed, values: 'sent' }, server, current, running);
    const found = await operation.findFields(allowed, server, names, context);
    if (!('failed' in found) || found.failed !== CHANGED) return found;
  }
}

/** Parses and runs the call. A large one whose time passes before the thread has checked it was not sent. */
async function runInTime(
  span: CallSpan,
  { bytes }: Body,
  client: Client,
  running: RunningCall,
): Promise<Reply> {
  const { operation, request } = running;
  const { time, dialect } = request;
  try {
    running.read = await operation.parse(bytes, span, dialect, time.signal);
    const { call } = running.read;
    return call instanceof Denial ? call : await runWhileChanged(call, client, running);
  } catch (error) {
    if (error instanceof TaskAborted) return denyEndedUnsent(time.deadline, { isReadOnly: false });
    throw error;
  }
}

/** Starts the call over as long as its key, policy or instance changes while it waits. */
async function runWhileChanged(call: AnyParsed, authenticated: Client, running: RunningCall): Promise<Reply> {
  let client = authenticated;
  for (;;) {
    const renewed = await renewAndAuthorize(client, running);
    if (renewed instanceof Denial) return renewed;
    client = renewed;
    const reply = await runOnce(call, client, running);
    if (reply !== CHANGED) return reply;
    // Nothing was run, or Odoo rolled it back.
    await findProtection(running)?.finish('not_run');
    releaseContext(running);
  }
}

/** The client as its key and policy are now. */
async function renewAndAuthorize(client: Client, { request, deps }: RunningCall): Promise<Client | Denial> {
  const now = await renewClient(client, deps, request.dialect);
  if (now === client || now instanceof Denial) return now;
  return authorizeCaller(now, request.exchange) ?? authorizeData(now, request.data) ?? now;
}

/** Authorizes, resolves and builds the call, and runs its steps. */
async function runOnce(parsed: AnyParsed, client: Client, running: RunningCall): Promise<Reply> {
  const { operation, request, trace } = running;
  const { signal } = request.time;
  const isConverted = request.areValuesNormalized && operation.convertValues !== undefined;
  const values = isConverted ? 'unconverted' : 'sent';
  const allowed = await operation.authorize(parsed, client, values, signal);
  trace.policyLimit = (allowed instanceof Denial ? undefined : allowed.policyLimit) ?? null;
  if (allowed instanceof Denial) {
    trace.target = await operation.nameTarget(parsed);
    return allowed;
  }
  const server = await operation.resolve(allowed);
  if (server instanceof Denial) return server;
  trace.target = nameSent(server, findTarget(server));
  if (request.refusal !== undefined) return request.refusal;
  let checked: CheckedCall = { asked: parsed, call: allowed, values };
  let context = createContext(checked, server, client, running);
  if (isConverted) {
    const converted = await convertValues(parsed, server, context, running);
    if ('reply' in converted) return converted.reply;
    checked = converted;
    context = createContext(checked, server, client, running);
  }
  let { call } = checked;
  if (operation.applyFieldRules !== undefined && client.policy !== null) {
    const applied = await operation.applyFieldRules(call, server, context);
    if ('reply' in applied) return await context.unlessChanged(applied.reply);
    call = applied.call;
  }
  const refused = (await operation.checkQuery?.(call, server, context)) ?? null;
  if (refused !== null) return await context.unlessChanged(refused);
  if (call.lacksTypes === true) {
    const applied = await operation.applyRelatedRules!(call, server, context);
    if ('reply' in applied) return await context.unlessChanged(applied.reply);
    context = createContext({ ...checked, ...applied }, server, client, running);
  }
  const prepared = await operation.build(call, server, request.dialect, signal);
  if (prepared instanceof Denial) return prepared;
  running.isReadOnly = prepared.isReadOnly;
  running.context = context;
  return await runSteps(operation.steps, prepared, context);
}

/** A call that the policy allows. */
interface CheckedCall {
  /** The call before the policy set values in it. */
  asked: AnyParsed;
  call: AnyParsed;
  values: ValuesState;
  /** The rule because of which it needs an approval for related records; absent or null: it needs none. */
  approvalRule?: string | null;
}

function createContext(
  { asked, call, values, approvalRule: relatedRule }: CheckedCall,
  server: ServerAddress | Target,
  client: Client,
  { operation, request, index, bytes, trace, deps }: RunningCall,
): CallContext {
  const { time } = request;
  const target = findTarget(server);
  const built = {
    client,
    isSameFor: async (other: Client) =>
      hasSameFieldRules(client, other) &&
      (call.lacksTypes === undefined || hasSameModels(client, other)) &&
      isSameCall(await operation.authorize(asked, other, values, time.signal), call),
    resolved: target && call.instance !== undefined ? { named: call.instance, target } : null,
  };
  const check = () => isUnchanged(built, request, deps);
  const approvalRule = call.approvalRule ?? relatedRule ?? null;
  return new CallContext({ request, client, time, trace, index, bytes, approvalRule, isUnchanged: check });
}

/** Converts the values of a call, and applies the policy to those that are sent. */
async function convertValues(
  parsed: AnyParsed,
  server: ServerAddress | Target,
  context: CallContext,
  { operation }: RunningCall,
): Promise<CheckedCall | { reply: Reply }> {
  const converted = await operation.convertValues!(parsed, server, context);
  if (!(await context.isUnchanged())) return { reply: CHANGED };
  const asked = 'reply' in converted ? parsed : converted.call;
  const call = await operation.authorize(asked, context.client, 'sent', context.time.signal);
  // What the conversion refuses would tell types of fields that the key may not write.
  if (call instanceof Denial) return { reply: call };
  return 'reply' in converted ? converted : { asked, call, values: 'sent' };
}

/** Null for a server without a database. */
function findTarget(server: ServerAddress | Target): Target | null {
  return 'credentialsId' in server ? server : null;
}

/** Server and database for the record, which must not have the credentials. */
function nameSent({ origin, pathPrefix }: ServerAddress, target: Target | null): CallTrace['target'] {
  return target === null ? { origin, pathPrefix } : { origin, pathPrefix, db: target.db };
}

function findProtection({ context }: { context: CallContext | null }): CallContext['protection'] {
  return context?.protection ?? null;
}

function releaseContext(running: { context: CallContext | null }): void {
  running.context?.release();
  running.context?.endOutliving();
  running.context = null;
}

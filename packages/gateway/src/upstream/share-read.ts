/**
 * Step: serves a read from another call. An equal read in flight is joined, and a caller that accepts an older answer
 * can get a kept one. sharing/ tells which reads are equal.
 */

import { findWrittenModel } from '@erp-proxy/odoo';
import {
  type AnswerStore,
  type CacheControl,
  MemoryAnswers,
  nameRead,
  type ReadScope,
  readCacheControl,
  type SharedAnswer,
  type SharedCall,
  SharedReads,
  WriteLog,
} from '@erp-proxy/traffic/sharing';
import { type CallContext, copyCall } from '../terms/call-context.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import type { Next, Step } from '../terms/operation.ts';
import { isResult, type Reply, type ResultReply, replyWhole } from '../terms/reply.ts';
import { type Deadline, RequestTime } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED, denyEnded, denyUnsent } from '../terms/upstream-denials.ts';
import { nameDatabaseAcrossTrusts } from './target-names.ts';

/** A caller that waits for a read. */
interface ReadMember {
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
  readonly keyId: string;
  readonly dueMs: number;
}

type Reads = SharedReads<ResultReply, Exclude<Reply, ResultReply>, ReadMember>;

export interface ShareReadDeps {
  reads: Reads;
  nowMs: () => number;
}

export interface ReadsOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Maximum bytes of all kept answers; 0: none are kept. */
  cacheBytesMax: number;
  /** The store of kept answers; null: the memory of this process. */
  answers: AnswerStore | null;
}

export function createReads({ nowMs, cacheBytesMax, answers }: ReadsOptions): Reads {
  const writes = new WriteLog();
  const store = () => answers ?? new MemoryAnswers({ bytesMax: cacheBytesMax, writes, nowMs });
  return new SharedReads<ResultReply, Exclude<Reply, ResultReply>, ReadMember>({
    nowMs,
    isResult,
    makeResult: (bytes) => replyWhole(bytes, NO_TAIL),
    writes,
    answers: cacheBytesMax === 0 ? null : store(),
  });
}

const NO_TAIL = Buffer.alloc(0);

export function shareRead({ reads, nowMs }: ShareReadDeps): Step<TargetedCall> {
  return async function shareRead(call, context, next) {
    const sharing = findSharing(call, context);
    if (sharing === null) return await next(context);
    const { target } = call;
    const name = nameRead({
      ...call,
      credentialsId: target.credentialsId,
      instanceId: target.instance?.id ?? null,
    });
    if (name === null) return await next(context);
    const scope = { name, database: nameDatabaseAcrossTrusts(target), model: call.model };
    return await read(scope, sharing, context, next);
  };

  async function read(
    scope: ReadScope,
    { maxAgeMs }: CacheControl,
    context: CallContext,
    next: Next,
  ): Promise<Reply> {
    const { time, client } = context;
    const { deadline, signal, dueMs } = time;
    const member = { signal, deadline, dueMs, keyId: client.key.id };
    const found = await reads.find(scope, maxAgeMs);
    const answer =
      'reply' in found
        ? found
        : await (reads.join(found, member) ?? reads.open(found, openFlight(context, next, nowMs), member));
    recordSource(answer, context);
    // A joined or kept answer was requested by another key, which may be allowed more.
    if (answer.source === 'own' || (await context.isUnchanged())) return answer.reply;
    if (isResult(answer.reply)) answer.reply.rest?.cancel();
    return CHANGED;
  }
}

/** Null if the call must be sent on its own. */
function findSharing(
  { isReadOnly }: TargetedCall,
  { client, request, approvalRule, confirmation, idempotencyKey, deferral }: CallContext,
): CacheControl | null {
  // A person agrees to one run of the call of one caller.
  if (approvalRule !== null || confirmation !== null) return null;
  // Answers of a batch wait for their position, and would delay the callers that they are shared with.
  if (!isReadOnly || request.isBatch || idempotencyKey !== null || deferral !== null) return null;
  const isCacheAllowed = client.policy === null || client.policy.policy.cache === true;
  const sharing = readCacheControl(request.exchange.header('cache-control'), isCacheAllowed);
  return sharing.mayShare ? sharing : null;
}

/** One call for several callers. It lasts as long as the longest time limit of its callers, and has its own permit. */
function openFlight(first: CallContext, next: Next, nowMs: () => number): SharedCall<Reply, ReadMember> {
  const time = new RequestTime({ nowMs, defaultMs: 0 });
  const shared = copyCall(first, { time });
  time.extendTo(first.time.dueMs);
  return {
    reply: next(shared),
    // Until it has a permit, it waits in the queue of the first caller's key. Calls of other keys must not wait there.
    accepts: ({ keyId }) => keyId === first.client.key.id || shared.permit !== null,
    extend: ({ dueMs }) => time.extendTo(dueMs),
    denyLeaver({ deadline }) {
      const isUnsent = shared.permit === null && deadline.reason !== 'shutdown';
      return isUnsent
        ? denyUnsent({ isReadOnly: true })
        : denyEnded(deadline, { outcome: 'unknown', isReadOnly: true });
    },
    abort({ deadline: { reason }, dueMs }) {
      // If the call itself had time left, the timeout says nothing about the server.
      const isEarly = reason === 'timeout' && dueMs < time.dueMs;
      time.deadline.end(reason === null || isEarly ? 'caller_left' : reason);
    },
  };
}

const SOURCES = { own: null, joined: 'flight', kept: 'cache' } as const;

function recordSource({ source, ageMs }: SharedAnswer<Reply>, { trace }: CallContext): void {
  trace.sharedFrom = SOURCES[source];
  trace.ageMs = ageMs;
}

export interface ReportWriteDeps {
  reads: Reads;
}

export interface WritingCall {
  isReadOnly: boolean;
  target: Target;
  model: string;
  method: string;
}

/**
 * Step: reports a possible write before and after it. Reads that were sent before its end are not joined by later
 * callers, and kept answers that the write may change are dropped. The reply waits for that, so that a caller reads its
 * own write.
 */
export function reportWrite({ reads }: ReportWriteDeps): Step<WritingCall> {
  return async function reportWrite({ isReadOnly, target, model, method }, context, next) {
    if (isReadOnly) return await next(context);
    const database = nameDatabaseAcrossTrusts(target);
    const written = findWrittenModel(model, method);
    void reads.reportWrite(database, written);
    try {
      return await next(context);
    } finally {
      await reads.reportWrite(database, written);
    }
  };
}

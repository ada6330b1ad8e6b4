/**
 * What becomes of a call beside others: a read that is the same as one in flight takes part in it, one whose caller accepts
 * an older answer may get a kept one, and a write makes kept answers go. Which reads are the same is told in sharing/.
 */
import { findWrittenModel } from '../../odoo/methods.ts';
import type { AnswerStore } from '../../sharing/answer-store.ts';
import { readCacheControl } from '../../sharing/cache-control.ts';
import { MemoryAnswers } from '../../sharing/memory-answers.ts';
import { nameRead } from '../../sharing/name-read.ts';
import { type SharedAnswer, SharedReads } from '../../sharing/shared-reads.ts';
import { WriteLog } from '../../sharing/write-log.ts';
import type { MethodCall } from '../call/limit.ts';
import type { Target } from '../call/resolve.ts';
import type { CallScope, Run } from '../run-request.ts';
import { createDeadline, type Deadline } from '../terms/deadline.ts';
import type { Reply, ResultReply } from './receive.ts';
import { nameDatabaseAcrossTrusts } from './target-names.ts';
import { CHANGED, denyEnded, denyUnsent } from './upstream-denials.ts';

/** One who waits for a read. */
interface ReadMember {
  readonly signal: Deadline['signal'];
  readonly deadline: Deadline;
  readonly keyId: string;
  readonly dueMs: number;
}

export type Reads = SharedReads<ResultReply, Exclude<Reply, ResultReply>, ReadMember>;

export interface ShareDeps {
  reads: Reads;
}

export interface ReadsOptions {
  /** A clock that never goes back. */
  nowMs: () => number;
  /** Bytes of all kept answers; 0: none is kept. */
  cacheBytesMax: number;
  /** Where they are kept; null: in the memory of this process. */
  answers: AnswerStore | null;
}

export function createReads({ nowMs, cacheBytesMax, answers }: ReadsOptions): Reads {
  const writes = new WriteLog();
  const store = () => answers ?? new MemoryAnswers({ bytesMax: cacheBytesMax, writes, nowMs });
  return new SharedReads<ResultReply, Exclude<Reply, ResultReply>, ReadMember>({
    nowMs,
    isResult,
    makeResult,
    writes,
    answers: cacheBytesMax === 0 ? null : store(),
  });
}

/** `send` runs the call under the scope and run that it is given: the caller's own, or those that many callers share. */
export async function shareRead<Deps extends ShareDeps>(
  call: MethodCall,
  target: Target,
  scope: CallScope,
  run: Run<Deps>,
  send: (scope: CallScope, run: Run<Deps>) => Promise<Reply>,
): Promise<Reply> {
  const { deadline, dueMs, deps } = run;
  const wish = findWish(call, scope, run);
  const name =
    wish === null
      ? null
      : nameRead({ ...call, credentialsId: target.credentialsId, instanceId: target.instance?.id ?? null });
  if (wish === null || name === null) return send(scope, run);
  const read = { name, database: nameDatabaseAcrossTrusts(target), model: call.model };
  const member = { signal: deadline.signal, deadline, dueMs, keyId: scope.client.key.id };
  const found = await deps.reads.find(read, wish.maxAgeMs);
  const answer =
    'reply' in found
      ? found
      : await (deps.reads.join(found, member) ??
          deps.reads.open(found, openFlight(scope, run, send), member));
  noteSource(answer, scope);
  // What others have asked for may be more than this key may have by now.
  if (answer.source === 'own' || (await scope.isUnchanged())) return answer.reply;
  if (isResult(answer.reply)) answer.reply.rest?.cancel();
  return CHANGED;
}

/** Runs a call that may write, so that what was read before its end is given to nobody who asks after it. */
export function sendNoted<Answer>(
  { model, method, isReadOnly }: Pick<MethodCall, 'model' | 'method' | 'isReadOnly'>,
  target: Target,
  { reads }: ShareDeps,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (isReadOnly) return send();
  return reads.write(nameDatabaseAcrossTrusts(target), findWrittenModel(model, method), send);
}

/** Null where the answer must come from a call of its own. */
function findWish({ isReadOnly }: MethodCall, { client, protect }: CallScope, run: Run<unknown>) {
  // Answers of a batch wait for their turn, and would hold up those that they share with.
  if (!isReadOnly || run.isBatch || protect !== null) return null;
  const { policy } = client;
  const isCacheAllowed = policy === null || policy.policy.cache === true;
  const wish = readCacheControl(run.exchange.header('cache-control'), isCacheAllowed);
  return wish.mayShare ? wish : null;
}

/** A call on behalf of many: its time is the longest of theirs, and nobody else gives its turn back. */
function openFlight<Deps>(
  first: CallScope,
  run: Run<Deps>,
  send: (scope: CallScope, run: Run<Deps>) => Promise<Reply>,
) {
  const deadline = createDeadline();
  const scope: CallScope = { ...first, onDone: null };
  const shared: Run<Deps> = { ...run, deadline };
  return {
    reply: flyToEnd(),
    // Until it has its turn it waits in the line of the first one's key, which is no other key's to wait in.
    accepts: ({ keyId }: ReadMember) => keyId === first.client.key.id || scope.onDone !== null,
    extend({ dueMs }: ReadMember) {
      shared.dueMs = Math.max(shared.dueMs, dueMs);
    },
    denyLeaver({ deadline }: ReadMember) {
      const isUnsent = scope.onDone === null && deadline.reason !== 'shutdown';
      return isUnsent
        ? denyUnsent({ isReadOnly: true })
        : denyEnded(deadline, { outcome: 'unknown', isReadOnly: true });
    },
    abort({ deadline: { reason }, dueMs }: ReadMember) {
      // The time that the server was said to have is not over: it is not to blame.
      const isEarly = reason === 'timeout' && dueMs < shared.dueMs;
      deadline.end(reason === null || isEarly ? 'caller_left' : reason);
    },
  };

  async function flyToEnd(): Promise<Reply> {
    let reply: Reply | null = null;
    try {
      reply = await send(scope, shared);
      return reply;
    } finally {
      if (reply === null || !isResult(reply) || reply.rest === null) scope.onDone?.();
    }
  }
}

function isResult(reply: Reply): reply is ResultReply {
  return 'kind' in reply && reply.kind === 'result';
}

function makeResult(bytes: Uint8Array): ResultReply {
  return {
    kind: 'result',
    pieces: [bytes],
    rest: null,
    lengthBytes: bytes.length,
    lastByte: null,
    tail: NOTHING,
  };
}

const NOTHING = Buffer.alloc(0);

const SOURCES = { own: null, joined: 'flight', kept: 'cache' } as const;

function noteSource({ source, ageMs }: SharedAnswer<Reply>, { trace }: CallScope): void {
  trace.sharedFrom = SOURCES[source];
  trace.ageMs = ageMs;
}

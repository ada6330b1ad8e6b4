/**
 * A call that names its arguments itself, on one page: it goes to `/json/2` as it is, and so does the answer. For callers
 * who choose the protocol; the execute call (pipeline.ts) chooses it for them.
 */
import type { EgressDispatcher } from '../egress/dispatcher.ts';
import { buildJson2Request } from '../odoo/json2-request.ts';
import { isReadOnlyMethod } from '../odoo/methods.ts';
import { callUpstream } from './call.ts';
import type { CredentialMemory } from './credential-memory.ts';
import { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { judgeCredentials } from './judge-credentials.ts';
import { type Json2Call, parseJson2Call } from './parse-json2.ts';
import { type ReceiveSettings, type Reply, receiveReply } from './receive.ts';
import { receiveJson2Refusal } from './receive-json2-refusal.ts';
import type { CallTrace } from './record.ts';
import { type Operation, type RequestDeps, type Run, runRequest } from './request-pipeline.ts';
import { resolveTarget, type Target } from './resolve.ts';
import type { UpstreamCall } from './translate.ts';

export interface Json2Deps extends RequestDeps {
  egress: EgressDispatcher;
  credentials: CredentialMemory;
  settings: ReceiveSettings & RequestDeps['settings'];
}

/** Runs one request to the last byte of its answer. Never rejects. */
export function executeJson2(exchange: Exchange, deps: Json2Deps, dialect: Dialect): Promise<void> {
  return runRequest(EXECUTE_JSON2, exchange, deps, dialect);
}

const EXECUTE_JSON2: Operation<Json2Call, Json2Deps> = {
  takesBatch: false,
  read: parseJson2Call,
  run: runCall,
};

async function runCall(
  call: Json2Call,
  trace: CallTrace,
  run: Run<Json2Deps>,
): Promise<{ reply: Reply; isReadOnly: boolean }> {
  const isReadOnly = isReadOnlyMethod(call.method, call.model);
  const { egress, credentials } = run.deps;
  const target = resolveTarget(call.instance, egress);
  if (target instanceof Denial) return { reply: target, isReadOnly };
  trace.target = target;
  const upstream = buildUpstreamCall(call, target, isReadOnly);
  if (upstream instanceof Denial) return { reply: upstream, isReadOnly };

  const ticket = await credentials.check(target.credentialsId, run.deadline.signal);
  if (ticket === 'refused') return { reply: REFUSED_BEFORE, isReadOnly };
  let reply: Reply | undefined;
  try {
    reply = await send(upstream, trace, run);
    return { reply, isReadOnly };
  } finally {
    ticket.settle(judgeCredentials(reply));
  }
}

const EMPTY_KWARGS = Buffer.from('{}');

function buildUpstreamCall(
  { bytes, model, method, kwargs }: Json2Call,
  target: Target,
  isReadOnly: boolean,
): UpstreamCall | Denial {
  const head = buildJson2Request({ ...target, model, method });
  if ('unmappable' in head)
    return new Denial('json2_call_invalid', `The call cannot be sent: ${head.unmappable}.`);
  const body = kwargs.span === null ? EMPTY_KWARGS : bytes.subarray(kwargs.span.start, kwargs.span.end);
  return {
    request: { method: 'POST', origin: target.origin, ...head, body },
    protocol: 'json2',
    resultShape: 'same',
    target,
    model,
    method,
    isReadOnly,
  };
}

async function send(
  upstream: UpstreamCall,
  trace: CallTrace,
  { deadline, deps, dialect }: Run<Json2Deps>,
): Promise<Reply> {
  trace.protocol = upstream.protocol;
  trace.sentMs = deps.nowMs();
  const { answer, attempts } = await callUpstream(upstream, deadline, deps.egress);
  trace.answeredMs = deps.nowMs();
  trace.attempts = attempts;
  if (answer instanceof Denial) return answer;
  trace.upstreamStatus = answer.status;
  const { settings } = deps;
  if (answer.status !== 200) return receiveJson2Refusal(answer, upstream, { deadline, settings, dialect });
  const received = await receiveReply(answer, upstream, deadline, settings);
  return received instanceof Denial || received.kind !== 'contradiction' ? received : received.otherwise;
}

/** What Odoo said to the same key a moment ago. */
const REFUSED_BEFORE: Reply = {
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
};
